package collective

import (
	"math"
	"math/bits"
)

// A Model is what the time of messages depends on, in the way of Hockney's α-β
// model with the cost of reducing added. It is measured (thunder.Comm.Calibrate) or
// read from a profile, and has to be the same on all ranks: they choose by it.
type Model struct {
	Alpha float64 `json:"alpha_us"`        // of one message, in µs
	Beta  float64 `json:"beta_us_per_kb"`  // of 1000 bytes more, in µs
	Gamma float64 `json:"gamma_us_per_kb"` // of reducing 1000 bytes, in µs
	// Local is what messages between ranks of one host cost, where there are several
	// hosts; then Alpha and Beta are those between hosts. Nil: the same.
	Local *LinkCost `json:"local,omitempty"`
	// Streams is how many connections to a peer move most, where that was measured.
	Streams int `json:"streams,omitempty"`
}

// A LinkCost is what the messages of one kind of link cost.
type LinkCost struct {
	Alpha float64 `json:"alpha_us"`       // of one message, in µs
	Beta  float64 `json:"beta_us_per_kb"` // of 1000 bytes more, in µs
}

// typical is a model of ranks that share memory on hosts that a fast cable joins,
// for groups that have not measured theirs.
var typical = Model{Alpha: 15, Beta: 0.4, Gamma: 0.05, Local: &LinkCost{Alpha: 1, Beta: 0.15}}

// ChooseMixed is Choose for ranks of which some share a host, if it was not measured
// what their messages cost.
func ChooseMixed(k Kind, size int, hosts *Hosts, bytes int) Algo {
	return typical.Choose(k, size, hosts, bytes)
}

// Valid reports whether the model can be used.
func (m Model) Valid() bool {
	ok := func(v float64) bool { return v >= 0 && !math.IsInf(v, 0) && !math.IsNaN(v) }
	link := func(l LinkCost) bool { return ok(l.Alpha) && ok(l.Beta) && l.Alpha > 0 && l.Beta > 0 }
	return link(m.remote()) && ok(m.Gamma) && (m.Local == nil || link(*m.Local)) && m.Streams >= 0
}

func (m Model) remote() LinkCost { return LinkCost{m.Alpha, m.Beta} }

func (m Model) local() LinkCost {
	if m.Local == nil {
		return m.remote()
	}
	return *m.Local
}

// Choose picks the algorithm that the model finds fastest; of those that it finds
// equal, the one that Algos lists first. Those that follow cables are left to Cables. hosts may be nil.
func (m Model) Choose(k Kind, size int, hosts *Hosts, bytes int) Algo {
	best, least := Choose(k, size, bytes), math.Inf(1)
	for _, a := range Algos(k) {
		if a == Cable || a == Mesh {
			continue
		}
		if t := m.Predict(k, a, size, hosts, bytes); t < least {
			best, least = a, t
		}
	}
	return best
}

// The least and the greatest segment that a model asks for: below, what pieces cost
// was seen to exceed what they save; above, they no longer stay in a cache.
const (
	leastSegment = 64 << 10
	mostSegment  = 1 << 20
	// stripedSegment is the length from which providers spread a message over the
	// streams to a peer.
	stripedSegment = 512 << 10
)

// Segment returns the length of the pieces, in bytes, in which messages should travel:
// each piece costs some time by itself, and a rank that passes it on has to wait for one.
// If d ranks pass v bytes on one after the other, in pieces of s, that takes
// (v/s + d-1)·(α + s·β), which is least at s = √(v·α/((d-1)·β)). The result is
// the power of two next to it; where several streams move more than one, pieces that
// are nearly long enough for it are made so.
func (m Model) Segment(k Kind, a Algo, size int, hosts *Hosts, bytes int) int {
	if size < 2 || bytes <= 0 {
		return leastSegment
	}
	c := m.flat(k, a, size, bytes)
	link := m.remote()
	if a == Hier && hosts.Mixed() {
		c = m.flat(k, Ring, hosts.Count(), bytes/hosts.most)
	}
	depth := max(c.steps-1, 1)
	if a == Mesh {
		depth = 1 // everything is under way at once
	}
	s := math.Sqrt(float64(c.sent*1000) * link.Alpha / float64(depth*(link.Beta+m.Gamma)/1000))
	n := int(min(max(s, leastSegment), mostSegment))
	down := 1 << (bits.Len(uint(n)) - 1)
	if float64(n)/float64(down) > math.Sqrt2 {
		down *= 2
	}
	if m.Streams > 1 && down == stripedSegment/2 {
		return stripedSegment
	}
	return down
}
