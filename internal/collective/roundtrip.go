package collective

import (
	"thundercollective/fabric"
	"thundercollective/internal/reduce"
)

// roundTripPiece is how much is reduced before the sum is put where the peer takes it
// from: it stays in the first-level cache meanwhile.
const roundTripPiece = 8 << 10

// roundTrips is the path of round trips: an AllReduce of a power of two of ranks. With
// one other rank after the other, twice as far away each time, each lends half of its
// vector, adds what it has of the other half to what it is lent, and takes its own half
// back as a sum. Blocks of ranks are combined as by the algorithm rd.
type roundTrips struct {
	*runner // whose run it carries out
	memory  fabric.Memory

	// Of the round trip under way:
	trip  fabric.RoundTrip
	peer  int
	last  bool   // its sums are the result
	terms []byte // what this rank adds
	// What this rank reduces, and what its peer does, begins here.
	kept, lent int
}

func (t *roundTrips) init(r *runner) {
	t.runner = r
	t.trip = fabric.RoundTrip{Lend: t.lend, Work: t.add, Back: t.takeBack}
}

// run carries out the runner's plan.
func (t *roundTrips) run() *StepError {
	t.terms = t.contribution()
	for bit := 1; bit < t.size; bit <<= 1 {
		t.peer, t.last = t.rank^bit, 2*bit == t.size
		n := len(t.main)
		half := (n/2 + cacheLine - 1) / cacheLine * cacheLine
		t.kept, t.lent = 0, half
		t.trip.In, t.trip.Out = half, n-half
		if t.rank > t.peer {
			t.kept, t.lent = half, 0
			t.trip.In, t.trip.Out = n-half, half
		}
		if err := t.memory.RoundTrip(t.ctx, t.peer, &t.tag, &t.trip); err != nil {
			return t.peerError(RecvStep, t.peer, err)
		}
		t.terms = t.main
	}
	return nil
}

// lend fills p with a part of what the peer reduces.
func (t *roundTrips) lend(off int, p []byte) { copy(p, t.terms[t.lent+off:]) }

// takeBack stores a part of what the peer has reduced.
func (t *roundTrips) takeBack(off int, p []byte) { copy(t.main[t.lent+off:], p) }

// add reduces a part of what this rank reduces, of which p is the peer's, into p and the
// result.
func (t *roundTrips) add(off int, p []byte) {
	plan := t.plan
	for at := t.kept + off; len(p) > 0; {
		n := min(roundTripPiece, len(p))
		sum, a, b := t.main[at:][:n], t.terms[at:][:n], p[:n]
		if t.rank > t.peer {
			a, b = b, a
		}
		plan.kernel(sum, a, b)
		if plan.divide && t.last {
			reduce.Divide(plan.dtype, sum, sum, t.size)
		}
		copy(p, sum)
		at, p = at+n, p[n:]
	}
}
