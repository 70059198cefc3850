package collective

import "context"

// rootGives reports whether only the root's memory is read on the shared path.
func (s *Spec) rootGives() bool { return s.Kind == Broadcast || s.Kind == Scatter }

// reads reports whether rank p reads memory of rank q on the shared path.
func (s *Spec) reads(p, q int) bool {
	switch {
	case p == q:
		return false
	case s.rootGives():
		return q == s.Root
	}
	return true
}

// sourceLen is how many elements of its own a rank lets others read.
func (s *Spec) sourceLen() int {
	switch s.Kind {
	case ReduceScatter, AllToAll, Scatter:
		return s.Size * s.Count
	}
	return s.Count
}

// contribution returns what this rank contributes to the operation.
func (e *execution) contribution() []byte {
	s := &e.plan.spec
	if s.Separate {
		return e.input
	}
	if s.Kind == AllGather {
		return e.block(e.main, s.Rank)
	}
	return e.main
}

// block returns block i of all.
func (e *execution) block(all []byte, i int) []byte {
	n := e.plan.block
	return all[i*n:][:n:n]
}

// An ownBlock is the block that a rank has for itself, as far as it is not copied yet. It
// is copied piece by piece, between those of others, so that this rank and those that
// read the block are at different places in it.
type ownBlock struct{ to, from []byte }

// copy copies the next piece.
func (o *ownBlock) copy() {
	n := min(pullPiece, len(o.from))
	copy(o.to[:n], o.from)
	o.to, o.from = o.to[n:], o.from[n:]
}

// ownBlock returns what this rank has for itself: nothing, if it is where it belongs.
func (x *sharing) ownBlock() ownBlock {
	s := &x.plan.spec
	if !s.Separate || s.Kind.Rooted() && s.Rank != s.Root {
		return ownBlock{}
	}
	switch s.Kind {
	case AllGather:
		return ownBlock{x.block(x.main, s.Rank), x.input}
	case AllToAll:
		return ownBlock{x.block(x.main, s.Rank), x.block(x.input, s.Rank)}
	case Scatter:
		return ownBlock{x.main, x.block(x.input, s.Rank)}
	case Broadcast:
		return ownBlock{x.main, x.input}
	}
	return ownBlock{}
}

// work does this rank's part of the operation.
func (x *sharing) work() *StepError {
	s := &x.plan.spec
	n := x.plan.block
	switch s.Kind {
	case AllReduce:
		if x.allSay == sayMapped|sayInPlace {
			return x.reduceEverywhere()
		}
		return x.allReduce()
	case ReduceScatter:
		own := x.main
		if !s.Separate {
			own = x.block(x.main, s.Rank)
		}
		return x.combine(s.Rank*n, own)
	case Broadcast, Scatter:
		if s.Rank == s.Root {
			for len(x.own.from) > 0 {
				x.own.copy()
			}
			return nil
		}
		off := 0
		if s.Kind == Scatter {
			off = s.Rank * n
		}
		return x.fetch(s.Root, off, x.main)
	}
	// Blocks of all ranks. They begin with different ones, so as not to crowd at one.
	off := 0
	if s.Kind == AllToAll {
		off = s.Rank * n
	}
	for i := 1; i < s.Size; i++ {
		p := (s.Rank + i) % s.Size
		if err := x.fetch(p, off, x.block(x.main, p)); err != nil {
			return err
		}
	}
	return nil
}

// pullPiece is how much is read at once: long enough to be worth a system call, short
// enough to stay in the second-level cache until it is reduced, and for the end of the
// operation to be noticed.
const pullPiece = 256 << 10

// fetch fills b with what lies off bytes into the source of rank p.
func (x *sharing) fetch(p, off int, b []byte) *StepError {
	pieces := ceil(len(b), pullPiece)
	for i := range pieces {
		at := x.next(i, pieces) * pullPiece
		n := min(pullPiece, len(b)-at)
		if _, err := x.peek(p, off+at, b[at:][:n], true); err != nil {
			return err
		}
		x.own.copy()
	}
	return nil
}

// next returns which of so many pieces is the i-th to be worked on. Operations of up to
// cachedMost bytes go through them in alternate directions: programs use the same memory
// again, and of what does not fit a processor's cache it still has the end that it came
// to last.
func (x *sharing) next(i, pieces int) int {
	if x.backwards {
		return pieces - 1 - i
	}
	return i
}

// cachedMost is the longest result, in bytes, for which that pays. Of longer ones less is
// found in the cache than is lost: processors fetch ahead better forwards.
const cachedMost = 8 << 20

// ceil returns how many pieces of a size n makes.
func ceil(n, size int) int { return (n + size - 1) / size }

// peek returns what lies off bytes into the source of rank p, as many as b has room for:
// where it is, if that can be reached, else in b, and always in b if it is wanted there.
func (x *sharing) peek(p, off int, b []byte, there bool) ([]byte, *StepError) {
	if x.ctx.Err() != nil {
		return nil, x.peerError(RecvStep, p, context.Cause(x.ctx))
	}
	at := x.mapped[p]
	if p == x.rank {
		at = x.source
	}
	switch {
	case at == nil:
		if err := x.memory.read(p, x.handles[p], off, b); err != nil {
			return nil, x.peerError(RecvStep, p, err)
		}
		return b, nil
	case there:
		copy(b, at[off:])
		return b, nil
	}
	return at[off:][:len(b)], nil
}
