package collective

import "context"

// pays says whether an operation on so many bytes, of the vector or of a block, is
// quicker in common: with memory that all have mapped, and with memory that has to be
// read through the kernel. The numbers are measured. What they follow:
//
// Two rounds of messages, or of a board, come on top, which also keep a rank that would
// only send from running ahead. A page that is read through the kernel costs about as
// much as two copies, into the memory of a link and out of it, that two processors make at once. So
// it pays where every rank both sends and receives, all along; in Scatter, whose root
// would make one copy for everybody; and in Broadcast, if there are several who receive,
// or if all of it stays in the cache of the one. In Gather and Reduce all the work would
// be the root's. Messages that are reduced are read where they lie, not copied, so
// ReduceScatter gains little by it, and nothing with many ranks; AllReduce has round
// trips (see Travels), which are quicker at every length.
func pays(k Kind, size, bytes int) (mapped, read bool) {
	const KiB, MiB = 1 << 10, 1 << 20
	pair := size == 2
	switch k {
	case AllReduce:
		return bytes >= 16*KiB, false
	case Broadcast:
		least := 32 * KiB
		if pair {
			least = 16 * KiB
		}
		return bytes >= least, bytes >= least && (bytes < 1*MiB || !pair)
	case Scatter:
		if pair {
			return bytes >= 64*KiB, bytes >= 64*KiB
		}
		return bytes >= 256*KiB, bytes >= 256*KiB
	case AllGather, AllToAll, ReduceScatter:
		switch {
		case pair:
			return bytes >= 32*KiB, bytes >= 32*KiB
		case k == ReduceScatter:
			return bytes >= 1*MiB, false
		}
		return bytes >= 64*KiB, bytes >= 64*KiB
	}
	return false, false
}

// triedMin is from how many bytes on ranks that cannot read each other's memory try all
// the same whether it is mapped, other than for AllReduce: the round of messages that
// this takes in vain, as a rule, is little beside the operation.
const triedMin = 1 << 20

// Pools says whether ranks that share memory try to do an operation in common (see
// RunCommons), and whether they are sure to: not only if all memory that is to be read
// is mapped. bytes is what Choose wants; reads says that they can read all memory of
// each other.
func Pools(k Kind, size, bytes int, reads bool) (try, sure bool) {
	mapped, read := pays(k, size, bytes)
	sure = reads && read
	return sure || mapped && (reads || k == AllReduce || bytes >= triedMin), sure
}

// Pools says whether ranks that share memory should try to perform the plan in common.
// The v-forms go by messages, whose lengths show who disagrees.
func (p *Plan) Pools(reads bool) bool {
	s := &p.spec
	try, _ := Pools(s.Kind, s.Size, s.Count*p.elem, reads)
	return try && s.Counts == nil
}

// down says whether only the root's memory is read, in common.
func (s *Spec) down() bool { return s.Kind == Broadcast || s.Kind == Scatter }

// reads says whether rank p reads memory of rank q, in common.
func (s *Spec) reads(p, q int) bool {
	switch {
	case p == q:
		return false
	case s.down():
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

// sourceOf returns what others take from this rank: its contribution.
func (x *Executor) sourceOf() []byte {
	s := &x.plan.spec
	if s.Separate {
		return x.input
	}
	if s.Kind == AllGather {
		return x.block(x.main, s.Rank)
	}
	return x.main
}

// block returns block i of all.
func (x *Executor) block(all []byte, i int) []byte {
	n := x.plan.spec.Count * x.plan.elem
	return all[i*n:][:n:n]
}

// own is the block that a rank has for itself, as far as it is not copied yet: piece by
// piece, between those of others, so that this rank and those who read the block are at
// different places in it.
type own struct{ to, from []byte }

// copy copies the next piece.
func (o *own) copy() {
	n := min(pullPiece, len(o.from))
	copy(o.to[:n], o.from)
	o.to, o.from = o.to[n:], o.from[n:]
}

// ownBlock returns what this rank has for itself: nothing, if it is where it belongs.
func (x *Executor) ownBlock() own {
	s := &x.plan.spec
	if !s.Separate || s.Kind.Rooted() && s.Rank != s.Root {
		return own{}
	}
	switch s.Kind {
	case AllGather:
		return own{x.block(x.main, s.Rank), x.input}
	case AllToAll:
		return own{x.block(x.main, s.Rank), x.block(x.input, s.Rank)}
	case Scatter:
		return own{x.main, x.block(x.input, s.Rank)}
	case Broadcast:
		return own{x.main, x.input}
	}
	return own{}
}

// share does this rank's part of the operation.
func (x *Executor) share() *StepError {
	s := &x.plan.spec
	n := s.Count * x.plan.elem
	switch s.Kind {
	case AllReduce:
		if x.common == saysMapped|saysInPlace {
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
	// Blocks of everybody. Ranks begin with different ones, so as not to crowd at one.
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
func (x *Executor) fetch(p, off int, b []byte) *StepError {
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
// cachedMost bytes go through them to and fro: programs use the same memory again, and of
// what does not fit a processor's cache it still has the end that it came to last.
func (x *Executor) next(i, pieces int) int {
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
func (x *Executor) peek(p, off int, b []byte, there bool) ([]byte, *StepError) {
	if x.ctx.Err() != nil {
		return nil, x.commonsError(RecvStep, p, context.Cause(x.ctx))
	}
	at := x.mapped[p]
	if p == x.rank {
		at = x.source
	}
	switch {
	case at == nil:
		if err := x.peers.(Commons).Read(p, x.handles[p], off, b); err != nil {
			return nil, x.commonsError(RecvStep, p, err)
		}
		return b, nil
	case there:
		copy(b, at[off:])
		return b, nil
	}
	return at[off:][:len(b)], nil
}
