package collective

import (
	"math"
	"math/bits"
)

// A Model is what the time of messages depends on, in the way of Hockney's α-β
// model with the cost of reducing added. It is measured (bench.Calibrate) or read
// from a profile, and has to be the same on all ranks: they choose by it.
type Model struct {
	Alpha float64 `json:"alpha_us"`        // of one message, in µs
	Beta  float64 `json:"beta_us_per_kb"`  // of 1000 bytes more, in µs
	Gamma float64 `json:"gamma_us_per_kb"` // of reducing 1000 bytes, in µs
}

// Valid says whether the model can be used.
func (m Model) Valid() bool {
	ok := func(v float64) bool { return v >= 0 && !math.IsInf(v, 0) && !math.IsNaN(v) }
	return ok(m.Alpha) && ok(m.Beta) && ok(m.Gamma) && m.Alpha > 0 && m.Beta > 0
}

// Predict estimates the time of an operation in µs; bytes are as for Choose. A rank
// has one port: messages that it sends to different peers share its bandwidth, but
// their latencies overlap but for a small part.
func (m Model) Predict(k Kind, a Algo, size, bytes int) float64 {
	if size < 2 {
		return 0
	}
	n, v := float64(size), float64(bytes)/1000
	log := float64(bits.Len(uint(size - 1)))
	const overlap = 0.3 // of a latency, for each further message in flight
	// steps one after the other, sent in vectors in all, and reduced.
	time := func(steps, messages, sent, reduced float64) float64 {
		return m.Alpha*(steps+overlap*(messages-steps)) + v*(sent*m.Beta+reduced*m.Gamma)
	}
	switch k {
	case AllReduce:
		switch a {
		case Direct:
			return time(1, n-1, n-1, n-1)
		case Doubling:
			return time(log, log, log, log)
		case Tree:
			return time(2*log, 2*log, 2*log, log)
		case HalvingDoubling:
			return time(2*log, 2*log, 2*(n-1)/n, (n-1)/n)
		}
		return time(2*(n-1), 2*(n-1), 2*(n-1)/n, (n-1)/n)
	case ReduceScatter, AllGather: // bytes is one block
		reduced := 0.0
		if k == ReduceScatter {
			reduced = n - 1
		}
		switch a {
		case Direct:
			return time(1, n-1, n-1, reduced)
		case Doubling, HalvingDoubling:
			return time(log, log, n-1, reduced)
		}
		return time(n-1, n-1, n-1, reduced)
	case Broadcast, Reduce:
		reduced := 0.0
		if k == Reduce {
			reduced = 1
		}
		switch a {
		case Direct:
			return time(1, n-1, n-1, reduced*(n-1))
		case Tree:
			return time(log, log, log, reduced*log)
		}
		return time(n-1, n-1, 1, reduced) // a pipeline
	case Gather, Scatter:
		if a == Tree {
			return time(log, log, n-1, 0)
		}
		return time(1, n-1, n-1, 0)
	case AllToAll:
		return time(1, n-1, n-1, 0)
	case Barrier:
		if a == Direct {
			return time(1, n-1, 0, 0)
		}
		return time(log, log, 0, 0)
	}
	return time(1, 1, 1, 0)
}

// Choose picks the algorithm that the model finds fastest; of those that it finds
// equal, the one that Algos lists first.
func (m Model) Choose(k Kind, size, bytes int) Algo {
	best, least := Choose(k, size, bytes), math.Inf(1)
	for _, a := range Algos(k) {
		if t := m.Predict(k, a, size, bytes); t < least {
			best, least = a, t
		}
	}
	return best
}
