package thunder_test

import (
	"context"
	"testing"

	thunder "thundercollective"
	"thundercollective/internal/hugepages/hugetest"
)

// TestSmallPages: buffers that are used repeatedly are moved, unless that is not wanted,
// and keep what is in them.
func TestSmallPages(t *testing.T) {
	hugetest.OnDemand(t)
	const count, uses = 4 << 20, 5
	for _, small := range []bool{true, false} {
		comms := shmRanks(t, 2, thunder.Options{SmallPages: small})
		var bufs [2][]byte
		for r := range bufs {
			bufs[r] = hugetest.Memory(t, 4*count)
			for i, w := 0, words(bufs[r]); i < count; i++ {
				w[i] = input(r, i)
			}
		}
		each(t, 2, func(r int) error {
			for range uses {
				if err := thunder.AllReduce(context.Background(), comms[r], words(bufs[r]), thunder.Max); err != nil {
					return err
				}
			}
			return nil
		})
		for r := range bufs {
			if huge := hugetest.Huge(t, bufs[r]); small != (huge == 0) {
				t.Errorf("small pages %v: %d bytes of rank %d's buffer are huge", small, huge, r)
			}
			for i, got := range words(bufs[r]) {
				if want := input(1, i); got != want {
					t.Fatalf("element %d at rank %d is %v, want %v", i, r, got, want)
				}
			}
		}
	}
}
