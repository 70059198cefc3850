package collective

import (
	"context"

	"thundercollective/fabric"
	"thundercollective/reduce"
)

// A Commons is a Peers whose ranks can let each other work in their buffers.
type Commons interface {
	Peers
	// Offer names b to all peers; false, with the zero Handle, if they cannot work
	// in it.
	Offer(b []byte) (fabric.Handle, bool)
	// Reach returns the n bytes that peer has named.
	Reach(peer int, h fabric.Handle, n int) ([]byte, error)
}

// commonsPiece is how much is reduced before it is handed out: it stays in the
// first-level cache meanwhile.
const commonsPiece = 16 << 10

// RunCommons is Run for an AllReduce that needs no messages for the data: every
// rank reduces its share of the vector straight from the buffers of all ranks, in
// rank order, and writes the result to all of them.
//
// It takes a message each way to agree that all ranks' buffers allow that, and
// another to know that all are done. When some rank's does not, the plan is run
// instead, so any buffers may be passed. All ranks have to call it alike. The peers
// must be a Commons.
func (x *Executor) RunCommons(ctx context.Context, plan *Plan, tag *fabric.Tag, main, input []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.admit(ctx, plan, main, input); err != nil {
		return err
	}
	x.ctx, x.plan, x.tag = ctx, plan, *tag
	buffers, err := x.exchange(main[:plan.main])
	if err == nil && buffers != nil {
		x.reduceShare(buffers)
		err = x.meet()
	}
	if err != nil {
		x.fail(err)
	}
	switch {
	case x.failed.Load():
		x.release()
		return x.err
	case buffers != nil:
		x.release()
		return nil
	}
	return x.execute(ctx, plan, tag, main, input)
}

// exchange tells everyone where this rank's buffer is, and returns the buffers of
// all ranks, or nil if not all can be reached.
func (x *Executor) exchange(main []byte) ([][]byte, *StepError) {
	commons := x.peers.(Commons)
	if x.common == nil {
		x.common, x.handles = make([][]byte, x.size), make([]fabric.Handle, x.size)
	}
	mine, ok := &x.handles[x.rank], false
	*mine = fabric.Handle{}
	if !x.plan.spec.Separate {
		*mine, ok = commons.Offer(main)
	}
	if err := x.tellAll(mine[:]); err != nil {
		return nil, err
	}
	for p := range x.boxes {
		if p == x.rank {
			continue
		}
		if err := x.hear(p, x.handles[p][:]); err != nil {
			return nil, err
		}
		ok = ok && x.handles[p] != fabric.Handle{}
	}
	if !ok {
		return nil, nil
	}
	for p := range x.boxes {
		if p == x.rank {
			x.common[p] = main
			continue
		}
		var err error
		if x.common[p], err = commons.Reach(p, x.handles[p], len(main)); err != nil {
			return nil, x.commonsError(RecvStep, p, err)
		}
	}
	return x.common, nil
}

// reduceShare combines this rank's share and writes it everywhere.
func (x *Executor) reduceShare(buffers [][]byte) {
	const align = 64 // ranks do not write to the same cache line
	p := x.plan
	lines := (p.main + align - 1) / align
	from := min(x.rank*lines/x.size*align, p.main)
	to := min((x.rank+1)*lines/x.size*align, p.main)
	if len(x.scratch) < commonsPiece {
		x.scratch = make([]byte, commonsPiece)
	}
	for ; from < to; from += commonsPiece {
		end := min(from+commonsPiece, to)
		// Nobody else touches this range. Of two ranks the own buffer can take the
		// result at once; of more, it may be needed after others.
		sum := buffers[x.rank][from:end]
		if x.size > 2 {
			sum = x.scratch[:end-from]
		}
		p.kernel(sum, buffers[0][from:end], buffers[1][from:end])
		for _, b := range buffers[2:] {
			p.kernel(sum, sum, b[from:end])
		}
		if p.divide {
			reduce.Divide(p.dtype, sum, sum, x.size)
		}
		for r, b := range buffers {
			if r != x.rank || x.size > 2 {
				copy(b[from:end], sum)
			}
		}
	}
}

// meet returns when all ranks have come here.
func (x *Executor) meet() *StepError {
	if err := x.tellAll(nil); err != nil {
		return err
	}
	for p := range x.boxes {
		if p != x.rank {
			if err := x.hear(p, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// tellAll sends a few bytes to everyone. Links are opened in the order of the
// ranks, so that no ring of ranks waits for each other.
func (x *Executor) tellAll(b []byte) *StepError {
	for p, box := range x.boxes {
		if p == x.rank {
			continue
		}
		link, err := box.open()
		if err == nil {
			err = link.Send(x.ctx, &x.tag, b)
		}
		if err != nil {
			return x.commonsError(SendStep, p, err)
		}
	}
	return nil
}

// hear receives a few bytes.
func (x *Executor) hear(p int, b []byte) *StepError {
	if err := x.boxes[p].path.Load().link.Recv(x.ctx, &x.tag, b); err != nil {
		return x.commonsError(RecvStep, p, err)
	}
	return nil
}

func (x *Executor) commonsError(s Step, peer int, err error) *StepError {
	return &StepError{Kind: x.plan.spec.Kind, Algo: x.plan.spec.Algo, Step: s, Peer: peer, Err: err}
}
