package collective

import "context"

// reads reports whether a rank reads memory of another on the shared path.
func (p *Plan) reads(rank, other int) bool {
	return rank != other && (!p.rootGives || other == p.spec.Root)
}

// contribution returns what this rank contributes to the operation.
func (e *execution) contribution() []byte {
	source := e.main
	if e.plan.spec.Separate {
		source = e.input
	}
	return source[e.plan.mine:][:e.plan.given]
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
	p, s := x.plan, &x.plan.spec
	if !s.Separate || !p.gives || !p.gets || s.Kind.Reduces() {
		return ownBlock{}
	}
	to := x.main
	if s.Kind.GetsBlocks() {
		to = x.block(to, s.Rank)
	}
	return ownBlock{to, x.input[p.part:][:p.block]}
}

// work does this rank's part of the operation.
func (x *sharing) work() *StepError {
	p, s := x.plan, &x.plan.spec
	switch {
	case s.Kind == AllReduce && x.allSay == sayMapped|sayInPlace:
		return x.reduceEverywhere()
	case s.Kind == AllReduce:
		return x.allReduce()
	case s.Kind.Reduces():
		return x.combine(p.part, x.main[p.into:][:p.block])
	case p.rootGives && s.Rank == s.Root:
		for len(x.own.from) > 0 {
			x.own.copy()
		}
		return nil
	case p.rootGives:
		return x.fetch(s.Root, p.part, x.main)
	}
	// Blocks of all ranks. They begin with different ones, so as not to crowd at one.
	for i := 1; i < s.Size; i++ {
		r := (s.Rank + i) % s.Size
		if err := x.fetch(r, p.part, x.block(x.main, r)); err != nil {
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
		if err := x.memory.ReadAt(p, x.handles[p], off, b); err != nil {
			return nil, x.peerError(RecvStep, p, err)
		}
		return b, nil
	case there:
		copy(b, at[off:])
		return b, nil
	}
	return at[off:][:len(b)], nil
}
