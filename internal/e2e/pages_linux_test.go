package e2e_test

import (
	"context"
	"testing"

	thunder "thundercollective"
	"thundercollective/internal/hugepages/hugetest"
)

// TestNoHugePages: buffers that are used repeatedly are moved, unless that is not wanted,
// and keep what is in them.
func TestNoHugePages(t *testing.T) {
	allReduce := func(c *thunder.Comm, buf []int32) error {
		return thunder.AllReduce(context.Background(), c, buf, thunder.Max)
	}
	pass := func(c *thunder.Comm, buf []int32) error {
		if c.Rank() == 1 {
			return thunder.Send(context.Background(), c, buf, 0)
		}
		return thunder.Recv(context.Background(), c, buf, 1)
	}
	for _, test := range []struct {
		name  string
		ranks func(testing.TB, int, thunder.Options) []*thunder.Comm
		use   func(*thunder.Comm, []int32) error
	}{
		{"all-reduce in shared memory", shmRanks, allReduce},
		{"all-reduce over TCP", tcpRanks, allReduce},
		{"messages over TCP", tcpRanks, pass},
	} {
		t.Run(test.name, func(t *testing.T) { smallPages(t, test.ranks, test.use) })
	}
}

// smallPages has two ranks use a buffer each, in which both have what was rank 1's in the
// end.
func smallPages(t *testing.T, ranks func(testing.TB, int, thunder.Options) []*thunder.Comm, use func(*thunder.Comm, []int32) error) {
	hugetest.OnDemand(t)
	const count, uses = 4 << 20, 5
	for _, small := range []bool{true, false} {
		comms := ranks(t, 2, thunder.Options{Transport: thunder.Transport{NoHugePages: small}})
		var bufs [2][]byte
		for r := range bufs {
			bufs[r] = hugetest.Memory(t, 4*count)
			for i, w := 0, words(bufs[r]); i < count; i++ {
				w[i] = input(r, i)
			}
		}
		each(t, 2, func(r int) error {
			for range uses {
				if err := use(comms[r], words(bufs[r])); err != nil {
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
