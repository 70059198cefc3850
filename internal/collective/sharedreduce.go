package collective

import "thundercollective/internal/reduce"

const (
	// sharedPiece is how much is reduced before it is handed out: it stays in the
	// first-level cache meanwhile.
	sharedPiece = 16 << 10
	// cacheLine keeps ranks from writing to the same cache line.
	cacheLine = 64
)

// shareOf is the part of the vector that rank p reduces for all, in bytes.
func (x *sharing) shareOf(p int) (from, to int) {
	n := x.plan.main
	lines := (n + cacheLine - 1) / cacheLine
	return min(p*lines/x.size*cacheLine, n), min((p+1)*lines/x.size*cacheLine, n)
}

// reduceEverywhere combines this rank's share, piece by piece, and writes it to the
// memory of all ranks.
func (x *sharing) reduceEverywhere() *StepError {
	x.mapped[x.rank] = x.main
	x.stage(sharedPiece)
	p, sources := x.plan, x.mapped
	begin, to := x.shareOf(x.rank)
	pieces := ceil(to-begin, sharedPiece)
	for i := range pieces {
		from := begin + x.next(i, pieces)*sharedPiece
		end := min(from+sharedPiece, to)
		// Nobody else touches this range. Of two ranks the own buffer can take the
		// result at once; of more, it may be needed after others.
		sum := x.main[from:end]
		if x.size > 2 {
			sum = x.staging[:end-from]
		}
		p.kernel(sum, sources[0][from:end], sources[1][from:end])
		for _, b := range sources[2:] {
			p.kernel(sum, sum, b[from:end])
		}
		if p.divide {
			reduce.Divide(p.dtype, sum, sum, x.size)
		}
		for r, b := range sources {
			if r != x.rank || x.size > 2 {
				copy(b[from:end], sum)
			}
		}
	}
	return nil
}

// allReduce combines this rank's share in its own memory, and fetches the others'.
func (x *sharing) allReduce() *StepError {
	from, to := x.shareOf(x.rank)
	if err := x.combine(from, x.main[from:to]); err != nil {
		return err
	}
	if err := x.tell(x.result[:]); err != nil {
		return err
	}
	for i := 1; i < x.size; i++ {
		// A rank that has reduced its share does not read that of ours any more.
		p := (x.rank + i) % x.size
		if err := x.hear(p, x.handles[p][:]); err != nil {
			return err
		}
		if err := x.reach(p, len(x.main)); err != nil {
			return err
		}
		from, to := x.shareOf(p)
		if err := x.fetch(p, from, x.main[from:to]); err != nil {
			return err
		}
	}
	x.board.Next()
	return nil
}

// combine reduces what lies off bytes into the sources of all ranks, in rank order.
// The own source may be where the result belongs.
func (x *sharing) combine(off int, result []byte) *StepError {
	p := x.plan
	x.stage(2 * pullPiece)
	pieces := ceil(len(result), pullPiece)
	for i := range pieces {
		at := x.next(i, pieces) * pullPiece
		n := min(pullPiece, len(result)-at)
		out := result[at:][:n]
		// Written to at once, unless it is yet to be read.
		sum := out
		if x.rank > 1 && !p.spec.Separate {
			sum = x.staging[:n]
		}
		a, err := x.peek(0, off+at, x.staging[:n], false)
		if err != nil {
			return err
		}
		for r := 1; r < x.size; r++ {
			b, err := x.peek(r, off+at, x.staging[pullPiece:][:n], false)
			if err != nil {
				return err
			}
			p.kernel(sum, a, b)
			a = sum
		}
		if p.divide {
			reduce.Divide(p.dtype, sum, sum, x.size)
		}
		copy(out, sum) // nothing, if it is there
	}
	return nil
}

// stage makes room for n bytes of others.
func (x *sharing) stage(n int) {
	if len(x.staging) < n {
		x.staging = make([]byte, n)
	}
}
