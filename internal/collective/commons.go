package collective

import (
	"context"

	"thundercollective/fabric"
)

// A Commons is a Peers whose ranks can take the data of an operation from each other's
// memory.
type Commons interface {
	Peers
	// Offer names b to all peers. They can read what it names; if mapped, they can
	// reach it, too. It returns the zero Handle if they can do neither.
	Offer(b []byte) (h fabric.Handle, mapped bool)
	// Reach returns the n bytes that peer has named, to read and write. They must be
	// mapped.
	Reach(peer int, h fabric.Handle, n int) ([]byte, error)
	// Read fills b with what lies off bytes into the memory that peer has named.
	Read(peer int, h fabric.Handle, off int, b []byte) error
	// Board returns a board of all ranks, on which they agree; nil if they have none.
	// It is the caller's until the operation ends.
	Board() fabric.Board
}

// What ranks say of their memory in the last byte of its handle.
const (
	saysMapped  = 1 << iota // it can be mapped
	saysInPlace             // the result belongs there, too
)

// commons is what an executor knows of the memory of all ranks while it runs an
// operation in common.
type commons struct {
	board   fabric.Board    // what is told goes over it; nil for messages
	handles []fabric.Handle // by rank
	mapped  [][]byte        // by rank: what handles names; nil if it can only be read
	common  byte            // what all ranks say of theirs
	source  []byte          // what others take from this rank
	own     own
	result  fabric.Handle // where they find what it has reduced for them
	staging []byte        // what is read of others, to be reduced

	backwards bool // from the last piece to the first; see next

	journey // see travel
}

// RunCommons is Run for an operation whose data needs no messages: every rank takes
// what it needs from the memory of the others. See Pools for when that pays. What is
// reduced is reduced in rank order. An AllReduce of memory that nobody else has mapped is
// done in round trips (see travel).
//
// It takes a message each way to say where the memory is, and another to know that all
// are done with it, or a round of a board each. Nobody writes to the memory of others,
// except where all have mapped it and it is meant for the result. When some rank's memory
// does not allow it, or is too short for it to pay, the plan is run instead, so any
// buffers may be passed. All ranks have to call it alike. The peers must be a Commons.
func (x *Executor) RunCommons(ctx context.Context, plan *Plan, tag *fabric.Tag, main, input []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.admit(ctx, plan, main, input); err != nil {
		return err
	}
	x.ctx, x.plan, x.tag, x.main, x.input = ctx, plan, *tag, main[:plan.main], input[:plan.input]
	done, err := x.inCommon()
	if err != nil {
		x.fail(err)
	}
	switch {
	case x.failed.Load():
		x.release()
		return x.err
	case done:
		x.release()
		return nil
	}
	return x.execute(ctx, plan, tag, main, input)
}

// inCommon runs the plan in common, if that is possible: all ranks come to the same
// result.
func (x *Executor) inCommon() (done bool, err *StepError) {
	x.backwards = !x.backwards && len(x.main) <= cachedMost
	possible, err := x.exchange()
	if err != nil {
		return false, err
	}
	if x.common&saysMapped == 0 {
		if trips, err := x.trips(); trips || err != nil {
			if err == nil {
				err = x.travel()
			}
			return true, err
		}
	}
	if !possible {
		return false, nil
	}
	if err := x.share(); err != nil {
		return false, err
	}
	return true, x.part()
}

// exchange tells the others where this rank's memory is, hears where theirs is, and says
// whether all of it will do. All ranks come to the same result.
func (x *Executor) exchange() (bool, *StepError) {
	if x.handles == nil {
		x.handles, x.mapped = make([]fabric.Handle, x.size), make([][]byte, x.size)
	}
	x.board = x.peers.(Commons).Board()
	if x.givesFirst(x.rank) {
		x.offer()
		if err := x.say(x.handles[x.rank][:]); err != nil {
			return false, err
		}
	}
	x.own = x.ownBlock()
	x.own.copy() // meanwhile the others answer
	possible := true
	x.common = saysMapped | saysInPlace
	for p := range x.boxes {
		if !x.givesFirst(p) {
			continue
		}
		h := &x.handles[p]
		if err := x.learn(p, h[:]); err != nil {
			return false, err
		}
		possible = possible && *h != fabric.Handle{}
		x.common &= h[len(h)-1]
	}
	x.endRound()
	s := &x.plan.spec
	if _, read := pays(s.Kind, s.Size, s.Count*x.plan.elem); x.common&saysMapped == 0 && !read {
		return false, nil
	}
	for p := range x.boxes {
		if possible && p != x.rank && x.givesFirst(p) {
			if err := x.reach(p, s.sourceLen()*x.plan.elem); err != nil {
				return false, err
			}
		}
	}
	return possible, nil
}

// offer names this rank's memory.
func (x *Executor) offer() {
	s, own := &x.plan.spec, &x.handles[x.rank]
	x.source = x.sourceOf()
	*own = x.name(x.source)
	x.result = *own
	if s.Separate {
		if s.Kind != AllReduce {
			return
		}
		if x.result = x.name(x.main); x.result == (fabric.Handle{}) {
			*own = fabric.Handle{} // others could not fetch what is reduced here
		}
		return
	}
	if x.result != (fabric.Handle{}) {
		own[len(own)-1] |= saysInPlace
	}
}

// name returns the handle of memory of this rank, the zero one if it has none.
func (x *Executor) name(b []byte) fabric.Handle {
	h, mapped := x.peers.(Commons).Offer(b)
	if mapped {
		h[len(h)-1] |= saysMapped
	}
	return h
}

// reach maps the n bytes that rank p has named, if they can be mapped.
func (x *Executor) reach(p, n int) *StepError {
	x.mapped[p] = nil
	h := x.handles[p]
	if h[len(h)-1]&saysMapped == 0 {
		return nil
	}
	var err error
	if x.mapped[p], err = x.peers.(Commons).Reach(p, h, n); err != nil {
		return x.commonsError(RecvStep, p, err)
	}
	return nil
}

// givesFirst says whether rank p takes part in the first round, by saying where its
// memory is: the root alone, if only its memory is read.
func (x *Executor) givesFirst(p int) bool {
	s := &x.plan.spec
	return !s.down() || p == s.Root
}

// part returns when nobody reads this rank's memory any more.
func (x *Executor) part() *StepError {
	s := &x.plan.spec
	if !s.down() || s.Rank != s.Root {
		if err := x.say(nil); err != nil {
			return err
		}
	}
	for p := range x.boxes {
		if s.reads(p, x.rank) {
			if err := x.learn(p, nil); err != nil {
				return err
			}
		}
	}
	x.endRound()
	return nil
}

// say tells the others a few bytes: those who read this rank's memory, or whose memory it
// reads. They learn it.
func (x *Executor) say(b []byte) *StepError {
	if x.board != nil {
		if err := x.board.Show(x.ctx, &x.tag, b); err != nil {
			return x.commonsError(SendStep, x.rank, err)
		}
		return nil
	}
	s := &x.plan.spec
	for p := range x.boxes {
		if s.reads(x.rank, p) || s.reads(p, x.rank) {
			if err := x.tell(p, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// learn returns when rank p has said as many bytes as b has room for, unless p is this
// rank.
func (x *Executor) learn(p int, b []byte) *StepError {
	if x.board == nil || p == x.rank {
		return x.hear(p, b)
	}
	said, err := x.board.Look(x.ctx, p, &x.tag, len(b))
	if err != nil {
		return x.commonsError(RecvStep, p, err)
	}
	copy(b, said)
	return nil
}

// endRound comes when this rank has said and learnt all there is.
func (x *Executor) endRound() {
	if x.board != nil {
		x.board.Next()
	}
}

// tell sends a few bytes, unless p is this rank. Links are opened in the order of the
// ranks, so that no ring of ranks waits for each other.
func (x *Executor) tell(p int, b []byte) *StepError {
	if p == x.rank {
		return nil
	}
	link, err := x.boxes[p].open()
	if err == nil {
		err = link.Send(x.ctx, &x.tag, b)
	}
	if err != nil {
		return x.commonsError(SendStep, p, err)
	}
	return nil
}

// hear receives a few bytes, unless p is this rank.
func (x *Executor) hear(p int, b []byte) *StepError {
	if p == x.rank {
		return nil
	}
	link, err := x.boxes[p].open()
	if err == nil {
		err = link.Recv(x.ctx, &x.tag, b)
	}
	if err != nil {
		return x.commonsError(RecvStep, p, err)
	}
	return nil
}

func (x *Executor) commonsError(s Step, peer int, err error) *StepError {
	return &StepError{Kind: x.plan.spec.Kind, Algo: x.plan.spec.Algo, Step: s, Peer: peer, Err: err}
}
