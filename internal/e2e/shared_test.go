package e2e_test

import (
	"context"
	"fmt"
	"testing"
	"unsafe"

	thunder "thundercollective"
)

// TestAllReduceInCommon reduces vectors of which all, some or no ranks have theirs in
// memory of Alloc, and checks the result and, where peers can reach all buffers, that
// hardly a byte was sent.
func TestAllReduceInCommon(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		comms := shmRanks(t, n, thunder.Options{})
		for _, tt := range []struct {
			name  string
			alloc func(rank int) bool
			op    thunder.Op
			count int
			skip  int // elements into the memory
		}{
			{"all", func(int) bool { return true }, thunder.Sum, 100_003, 0},
			{"all, average", func(int) bool { return true }, thunder.Avg, 8192, 0},
			{"all, unaligned", func(int) bool { return true }, thunder.Max, 50_001, 3},
			{"all, less than a line each", func(int) bool { return true }, thunder.Sum, 4096 + 1, 1},
			{"one", func(r int) bool { return r == 1 }, thunder.Sum, 100_003, 0},
			{"all but one", func(r int) bool { return r != 0 }, thunder.Sum, 9000, 0},
			{"none", func(int) bool { return false }, thunder.Sum, 100_003, 0},
		} {
			t.Run(fmt.Sprintf("%d/%s", n, tt.name), func(t *testing.T) {
				everywhere := true
				for r := range n {
					everywhere = everywhere && tt.alloc(r)
				}
				each(t, n, func(r int) error {
					return reduceInCommon(comms[r], tt.alloc(r), everywhere, tt.op, tt.count, tt.skip)
				})
			})
		}
	}
}

func reduceInCommon(c *thunder.Comm, alloc, everywhere bool, op thunder.Op, count, skip int) error {
	n := c.Size()
	mem := make([]byte, 4*(count+skip))
	if alloc {
		var err error
		if mem, err = c.Alloc(len(mem)); err != nil {
			return err
		}
		defer c.Free(mem)
	}
	buf := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(mem))), count+skip)[skip:]
	for round := range 3 {
		for i := range buf {
			buf[i] = float32(i%1000 + c.Rank() + round)
		}
		before := sentToAll(c)
		if err := thunder.AllReduce(context.Background(), c, buf, op); err != nil {
			return err
		}
		if sent := sentToAll(c) - before; round > 0 && everywhere && sent > uint64(64*n) {
			return fmt.Errorf("%d bytes were sent", sent)
		}
		for i, got := range buf {
			base := float32(i%1000 + round)
			want := base*float32(n) + float32(n*(n-1)/2)
			switch op {
			case thunder.Avg:
				want /= float32(n)
			case thunder.Max:
				want = base + float32(n-1)
			}
			if got != want {
				return fmt.Errorf("round %d: element %d is %v, want %v", round, i, got, want)
			}
		}
		// Others may be looking at their results still, ours is ours to change.
		clear(buf)
	}
	return nil
}
