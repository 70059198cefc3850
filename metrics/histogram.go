package metrics

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// buckets is the number of a Histogram's finite buckets: up to 1 µs, 4 µs, 16 µs and
// so on, to 67 s.
const buckets = 14

// A Histogram counts durations. The zero value is ready, and safe for concurrent
// use.
type Histogram struct {
	counts [buckets + 1]atomic.Uint64 // the last is for what is longer
	nanos  atomic.Uint64
}

// Observe counts a duration.
func (h *Histogram) Observe(d time.Duration) {
	h.counts[bucket(d)].Add(1)
	h.nanos.Add(uint64(max(d, 0)))
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
