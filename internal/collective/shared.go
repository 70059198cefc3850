package collective

import "thundercollective/fabric"

// What a rank says about its memory in the last byte of its handle.
const (
	sayMapped  = 1 << iota // the others can map it
	sayInPlace             // the result belongs there, too
)

// sharing is the shared path: every rank takes what it needs from the memory of the
// others. What is reduced is reduced in rank order.
//
// The ranks first tell each other where their memory is, in a round of the board, and in a
// second one that they no longer need that of the others. No rank
// writes to the memory of another, except where all have mapped it and it is meant for
// the result.
type sharing struct {
	*runner // whose run it carries out
	memory  fabric.Memory
	board   fabric.Board // of memory, for what the ranks tell each other
	trips   roundTrips

	// Of the operation under way:
	handles []fabric.Handle // by rank
	mapped  [][]byte        // by rank: what handles names; nil if it can only be read
	allSay  byte            // what all ranks say of theirs
	source  []byte          // what others take from this rank
	own     ownBlock
	result  fabric.Handle // where others find what this rank has reduced

	staging   []byte // what is read of others, to be reduced
	backwards bool   // from the last piece to the first; see next
}

func (x *sharing) init(r *runner) {
	x.runner = r
	x.trips.init(r)
}

// share sets what the ranks share.
func (x *sharing) share(m fabric.Memory) {
	x.memory, x.board, x.trips.memory = m, m.Board(), m
	x.handles, x.mapped = make([]fabric.Handle, x.size), make([][]byte, x.size)
}

// run carries out the runner's plan by the path that it returns, unless that is
// PathMessages: then the memory of some rank does not allow anything else, or is too
// short for it to pay. All ranks come to the same result.
func (x *sharing) run(f *facts) (Path, *StepError) {
	x.backwards = !x.backwards && len(x.main) <= cachedMost
	accessible, err := x.exchangeHandles()
	if err != nil {
		return PathShared, err
	}
	path := f.settle(x.plan, x.allSay&sayMapped != 0, accessible)
	switch path {
	case PathRoundTrip:
		err = x.trips.run()
	case PathShared:
		if err = x.mapAll(); err == nil {
			err = x.work()
		}
		if err == nil {
			err = x.leave()
		}
	}
	return path, err
}

// release lets go of what belongs to a run.
func (x *sharing) release() {
	clear(x.mapped)
	x.source, x.own = nil, ownBlock{}
	x.trips.terms = nil
}

// exchangeHandles tells the others where this rank's memory is, and learns where theirs
// is. It reports whether all of it can be read, at least. All ranks come to the same
// result.
func (x *sharing) exchangeHandles() (accessible bool, err *StepError) {
	if x.gives(x.rank) {
		x.nameOwn()
		if err := x.tell(x.handles[x.rank][:]); err != nil {
			return false, err
		}
	}
	x.own = x.ownBlock()
	x.own.copy() // while the others answer
	accessible = true
	x.allSay = sayMapped | sayInPlace
	for p := range x.peers {
		if !x.gives(p) {
			continue
		}
		h := &x.handles[p]
		if err := x.hear(p, h[:]); err != nil {
			return false, err
		}
		accessible = accessible && *h != fabric.Handle{}
		x.allSay &= h[len(h)-1]
	}
	x.board.Next()
	return accessible, nil
}

// nameOwn names this rank's memory to the others.
func (x *sharing) nameOwn() {
	s, own := &x.plan.spec, &x.handles[x.rank]
	x.source = x.contribution()
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
		own[len(own)-1] |= sayInPlace
	}
}

// name returns the handle of memory of this rank, the zero one if it has none.
func (x *sharing) name(b []byte) fabric.Handle {
	h, mapped := x.memory.Share(b)
	switch {
	case mapped:
		h[len(h)-1] |= sayMapped
	case x.memory.Reads():
		h, _ = x.memory.Locate(b)
	}
	return h
}

// mapAll maps what the other ranks have named, as far as it can be mapped.
func (x *sharing) mapAll() *StepError {
	for p := range x.peers {
		if p != x.rank && x.gives(p) {
			if err := x.reach(p, x.plan.given); err != nil {
				return err
			}
		}
	}
	return nil
}

// reach maps the n bytes that rank p has named, if they can be mapped.
func (x *sharing) reach(p, n int) *StepError {
	x.mapped[p] = nil
	h := x.handles[p]
	if h[len(h)-1]&sayMapped == 0 {
		return nil
	}
	var err error
	if x.mapped[p], err = x.memory.Map(p, h, n); err != nil {
		return x.peerError(RecvStep, p, err)
	}
	return nil
}

// gives reports whether others read the memory of rank p: that of the root alone, if
// it alone has what they need.
func (x *sharing) gives(p int) bool {
	return !x.plan.rootGives || p == x.plan.spec.Root
}

// leave returns when no rank reads this rank's memory any more.
func (x *sharing) leave() *StepError {
	if !x.plan.rootGives || x.rank != x.plan.spec.Root {
		if err := x.tell(nil); err != nil {
			return err
		}
	}
	for p := range x.peers {
		if x.plan.reads(p, x.rank) {
			if err := x.hear(p, nil); err != nil {
				return err
			}
		}
	}
	x.board.Next()
	return nil
}

// tell tells the other ranks a few bytes. They hear it.
func (x *sharing) tell(b []byte) *StepError {
	if err := x.board.Show(x.ctx, &x.tag, b); err != nil {
		return x.peerError(SendStep, x.rank, err)
	}
	return nil
}

// hear returns when rank p has told as many bytes as b has room for, unless p is this
// rank.
func (x *sharing) hear(p int, b []byte) *StepError {
	if p == x.rank {
		return nil
	}
	told, err := x.board.Look(x.ctx, p, &x.tag, len(b))
	if err != nil {
		return x.peerError(RecvStep, p, err)
	}
	copy(b, told)
	return nil
}
