package e2e_test

import (
	"fmt"
	"testing"

	thunder "thundercollective"
)

// TestCostGrowth counts what a rank sends in an all-reduce of 64 MiB: 2(n-1)/n of it,
// but for what it takes to divide it into whole elements. The links of the group are
// counted, payload without headers; Comm.Traffic counts heartbeats as well.
func TestCostGrowth(t *testing.T) {
	count := 16 << 20
	if testing.Short() || raceDetector {
		count = 1 << 20
	}
	buffers := make([][]float32, 8)
	for r := range buffers {
		buffers[r] = make([]float32, count)
	}
	for _, fabric := range []string{"mem", "tcp"} {
		for n := 2; n <= 8; n++ {
			t.Run(fmt.Sprintf("%s/%d ranks", fabric, n), func(t *testing.T) {
				comms := fabrics[fabric](t, n, thunder.Options{})
				each(t, n, func(r int) error { return thunder.Barrier(t.Context(), comms[r]) })
				sent := make([]int64, n)
				each(t, n, func(r int) error {
					before := sentToAll(comms[r])
					for i := range buffers[r] {
						buffers[r][i] = float32(r + 1)
					}
					err := thunder.AllReduce(t.Context(), comms[r], buffers[r], thunder.Sum)
					sent[r] = int64(sentToAll(comms[r]) - before)
					if all := comms[r].Traffic().SentBytes; all < uint64(sent[r]) {
						t.Errorf("rank %d sent %d bytes in one operation and %d in all", r, sent[r], all)
					}
					return err
				})
				want := int64(2*(n-1)) * int64(4*count) / int64(n)
				for r := range n {
					if off := sent[r] - want; off > int64(8*n) || off < -int64(8*n) {
						t.Errorf("rank %d sent %d bytes, want %d", r, sent[r], want)
					}
					if got, want := buffers[r][count-1], float32(n*(n+1)/2); got != want {
						t.Errorf("rank %d: sum is %v, want %v", r, got, want)
					}
				}
			})
		}
	}
}

// sentToAll is how many bytes of collectives a rank has sent.
func sentToAll(c *thunder.Comm) uint64 {
	var n uint64
	for r := range c.Size() {
		if r != c.Rank() {
			n += c.TrafficTo(r).SentBytes
		}
	}
	return n
}
