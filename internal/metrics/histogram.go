package metrics

import (
	"math/bits"
	"sync/atomic"
	"time"

	"thundercollective/internal/publish"
)

// buckets is the number of a Histogram's finite buckets: up to 1 µs, 4 µs, 16 µs and
// so on, to 67 s.
const buckets = 14

// A Histogram counts durations. The zero value is ready. One goroutine at a time may
// change it; any may read it.
type Histogram struct {
	counts [buckets + 1]atomic.Uint64 // the last is for what is longer
	nanos  atomic.Uint64
}

// Observe counts a duration.
func (h *Histogram) Observe(d time.Duration) {
	publish.Add(&h.counts[bucket(d)], 1)
	publish.Add(&h.nanos, uint64(max(d, 0)))
}

// Merge counts what another one has.
func (h *Histogram) Merge(other *Histogram) {
	for i := range h.counts {
		publish.Add(&h.counts[i], other.counts[i].Load())
	}
	publish.Add(&h.nanos, other.nanos.Load())
}

// bucket is the first whose bound is not below d.
func bucket(d time.Duration) int {
	micros := uint64(max(d, 0)+time.Microsecond-1) / uint64(time.Microsecond)
	if micros <= 1 {
		return 0
	}
	return min((bits.Len64(micros-1)+1)/2, buckets)
}

// bound is the upper end of a bucket in seconds.
func bound(i int) float64 { return float64(uint64(1)<<(2*i)) / 1e6 }

// Count is how many durations were observed.
func (h *Histogram) Count() (n uint64) {
	for i := range h.counts {
		n += h.counts[i].Load()
	}
	return n
}

// read returns how many durations were observed, their sum in seconds, and how many were
// not above the bound of each bucket.
func (h *Histogram) read() (count uint64, sum float64, below map[float64]uint64) {
	sum, below = time.Duration(h.nanos.Load()).Seconds(), map[float64]uint64{}
	for i := range h.counts {
		count += h.counts[i].Load()
		if i < buckets {
			below[bound(i)] = count
		}
	}
	return count, sum, below
}
