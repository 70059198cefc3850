package collective

import (
	"context"

	"thundercollective/fabric"
	"thundercollective/internal/reduce"
)

// Shown is how many bytes a rank shows, at most, when the plan is run on a board; -1
// if it cannot be. Ranks that agree on the operation agree on it.
func (p *Plan) Shown() int { return p.shown }

// Shown is Plan.Shown of a plan for elements of this many bytes.
func (s *Spec) Shown(elem int) int {
	_, shown := s.onBoard(elem)
	return shown
}

// onBoard returns the length in bytes of what Count counts, and what is Shown.
func (s *Spec) onBoard(elem int) (block, shown int) {
	if s.Kind != Barrier {
		block = s.Count * elem
	}
	if s.Counts != nil || s.RecvCounts != nil {
		return block, -1
	}
	switch s.Kind {
	case AllReduce, Reduce, Broadcast, AllGather, Gather, Barrier:
		return block, block
	case ReduceScatter, Scatter, AllToAll:
		return block, block * s.Size
	}
	return block, -1
}

// Show does the first half of the plan's operation for this rank on a board of the
// group, which has room for what is Shown: it shows what the rank contributes. Take
// does the rest. Nothing is passed on, and those who want a reduction's result do all
// of it, in rank order. tag, main and input are those of Executor.Run.
//
// The board is of no more use after an error, which is a *StepError unless the
// buffers are too short.
func (p *Plan) Show(ctx context.Context, b fabric.Board, tag *fabric.Tag, main, input []byte) error {
	s := &p.spec
	if len(main) < p.main || len(input) < p.input {
		return p.tooShort(main, input)
	}
	if !p.shows() {
		return nil
	}
	from, source := 0, main
	if s.Separate {
		source = input
	} else if s.Kind == AllGather {
		from = s.Rank * p.block
	}
	var err error
	switch shown := source[from:][:p.shown]; s.Kind {
	case AllReduce, ReduceScatter, AllGather, AllToAll, Barrier:
		err = b.Swap(ctx, tag, shown)
	default:
		err = b.Show(ctx, tag, shown)
	}
	if err != nil {
		return p.boardError(SendStep, s.Rank, err)
	}
	return nil
}

// Take does the second half: it waits for what the other ranks show, and takes what
// this one needs.
func (p *Plan) Take(ctx context.Context, b fabric.Board, tag *fabric.Tag, main, input []byte) error {
	var r reader // field by field: a copy of what was just written would have to wait
	r.plan, r.ctx, r.board, r.tag = p, ctx, b, tag
	r.main, r.source = main, main
	if p.spec.Separate {
		r.source = input
	}
	if err := r.take(); err != nil {
		return err
	}
	b.Next()
	return nil
}

// shows says whether this rank has something to show.
func (p *Plan) shows() bool {
	switch p.spec.Kind {
	case Broadcast, Scatter:
		return p.spec.Rank == p.spec.Root
	case Gather:
		return p.spec.Rank != p.spec.Root
	}
	return true
}

// A reader takes from a board what one rank needs.
type reader struct {
	plan   *Plan
	ctx    context.Context
	board  fabric.Board
	tag    *fabric.Tag
	main   []byte
	source []byte // what the rank itself contributes lies here
}

// take takes it.
func (r *reader) take() error {
	s, block := &r.plan.spec, r.plan.block
	mine := s.Rank * block
	root := s.Rank == s.Root
	switch s.Kind {
	case AllReduce:
		return r.reduce(r.main[:block], 0)
	case Reduce:
		if root {
			return r.reduce(r.main[:block], 0)
		}
	case ReduceScatter:
		dst := r.main
		if !s.Separate {
			dst = dst[mine:]
		}
		return r.reduce(dst[:block], mine)
	case Broadcast:
		if !root {
			return r.copy(r.main[:block], s.Root, 0)
		}
		if s.Separate {
			copy(r.main, r.source[:block])
		}
	case Scatter:
		if !root {
			return r.copy(r.main[:block], s.Root, mine)
		}
		if s.Separate {
			copy(r.main, r.source[mine:][:block])
		}
	case Gather:
		if root {
			return r.gather(0)
		}
	case AllGather, Barrier:
		return r.gather(0)
	case AllToAll:
		return r.gather(mine)
	}
	return nil
}

// reduce combines what all ranks show from off on.
func (r *reader) reduce(dst []byte, off int) error {
	p := r.plan
	s := &p.spec
	var sum []byte
	for rank := range s.Size {
		var next []byte
		if rank == s.Rank && (rank < 2 || s.Separate) {
			next = r.source[off:][:len(dst)] // dst at most, which has not been written yet
		} else {
			shown, err := r.look(rank)
			if err != nil {
				return err
			}
			next = shown[off:][:len(dst)]
		}
		if rank > 0 {
			p.kernel(dst, sum, next)
			next = dst
		}
		sum = next
	}
	if p.divide {
		reduce.Divide(p.dtype, dst, dst, p.spec.Size)
	}
	return nil
}

// gather puts a block of what each rank shows, from off on, in its place.
func (r *reader) gather(off int) error {
	s, block := &r.plan.spec, r.plan.block
	for rank := range s.Size {
		dst := r.main[rank*block:][:block]
		if rank != s.Rank {
			if err := r.copy(dst, rank, off); err != nil {
				return err
			}
		} else if s.Separate {
			copy(dst, r.source[off:])
		}
	}
	return nil
}

// copy copies what a rank shows from off on.
func (r *reader) copy(dst []byte, rank, off int) error {
	shown, err := r.look(rank)
	if err != nil {
		return err
	}
	copy(dst, shown[off:])
	return nil
}

func (r *reader) look(rank int) ([]byte, error) {
	shown, err := r.board.Look(r.ctx, rank, r.tag, r.plan.shown)
	if err != nil {
		return nil, r.plan.boardError(RecvStep, rank, err)
	}
	return shown, nil
}

func (p *Plan) boardError(s Step, peer int, err error) error {
	return &StepError{Kind: p.spec.Kind, Algo: p.spec.Algo, Step: s, Peer: peer, Err: err}
}
