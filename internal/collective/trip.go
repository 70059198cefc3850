package collective

import (
	"thundercollective/fabric"
	"thundercollective/internal/reduce"
)

// Travels says whether ranks that share memory do an operation in round trips, if the
// data is not in memory that all have mapped: where that is quicker than by messages. The
// numbers are measured. Two ranks always gain: a round trip moves the data once each way,
// which is what has to be moved. With more ranks it is done over for the whole vector,
// which pays as soon as the vectors leave the processors' own caches.
func Travels(k Kind, size, bytes int) bool {
	const KiB, MiB = 1 << 10, 1 << 20
	if k != AllReduce {
		return false
	}
	switch size {
	case 2:
		return bytes >= 16*KiB
	case 4:
		return bytes >= 1*MiB
	case 8:
		return bytes >= 4*MiB
	}
	return false
}

// tripPiece is how much is reduced before the sum is put where the peer takes it from:
// it stays in the first-level cache meanwhile.
const tripPiece = 8 << 10

// journey is what an executor knows of the round trip under way.
type journey struct {
	trip  fabric.Trip
	peer  int
	last  bool   // its sums are the result
	terms []byte // what this rank adds
	// What this rank reduces, and what its peer does, begins here.
	kept, lent int
}

// trips says whether the plan is run in round trips, if the memory is not mapped. All
// ranks come to the same result.
func (x *Executor) trips() (bool, *StepError) {
	if !Travels(x.plan.spec.Kind, x.size, len(x.main)) {
		return false, nil
	}
	for bit := 1; bit < x.size; bit <<= 1 {
		peer := x.rank ^ bit
		link, err := x.boxes[peer].open()
		if err != nil {
			return false, x.commonsError(SendStep, peer, err)
		}
		if _, ok := link.(fabric.RoundTripper); !ok {
			return false, nil
		}
	}
	return true, nil
}

// travel is an AllReduce of a power of two of ranks. With one other rank after the other,
// twice as far away each time, each lends half of its vector, adds what it has of the
// other half to what it is lent, and takes its own half back as a sum.
func (x *Executor) travel() *StepError {
	if x.trip.Lend == nil {
		x.trip = fabric.Trip{Lend: x.lend, Work: x.addTo, Back: x.regain}
	}
	x.terms = x.sourceOf()
	for bit := 1; bit < x.size; bit <<= 1 {
		x.peer, x.last = x.rank^bit, 2*bit == x.size
		n := len(x.main)
		half := (n/2 + commonsAlign - 1) / commonsAlign * commonsAlign
		x.kept, x.lent = 0, half
		x.trip.In, x.trip.Out = half, n-half
		if x.rank > x.peer {
			x.kept, x.lent = half, 0
			x.trip.In, x.trip.Out = n-half, half
		}
		link, err := x.boxes[x.peer].open()
		if err == nil {
			err = link.(fabric.RoundTripper).RoundTrip(x.ctx, &x.tag, &x.trip)
		}
		if err != nil {
			return x.commonsError(RecvStep, x.peer, err)
		}
		x.terms = x.main
	}
	return nil
}

// lend fills p with a part of what the peer reduces.
func (x *Executor) lend(off int, p []byte) { copy(p, x.terms[x.lent+off:]) }

// regain keeps a part of what the peer has reduced.
func (x *Executor) regain(off int, p []byte) { copy(x.main[x.lent+off:], p) }

// addTo reduces a part of what this rank reduces, of which p is what the peer has, into
// p and the result.
func (x *Executor) addTo(off int, p []byte) {
	plan := x.plan
	for at := x.kept + off; len(p) > 0; {
		n := min(tripPiece, len(p))
		sum, a, b := x.main[at:][:n], x.terms[at:][:n], p[:n]
		if x.rank > x.peer {
			a, b = b, a
		}
		plan.kernel(sum, a, b)
		if plan.divide && x.last {
			reduce.Divide(plan.dtype, sum, sum, x.size)
		}
		copy(p, sum)
		at, p = at+n, p[n:]
	}
}
