package e2e_test

import (
	"context"
	"testing"

	thunder "thundercollective"
)

// TestPaths compares real groups with lines of the table in ARCHITECTURE.md, at the limits
// that come from the providers.
func TestPaths(t *testing.T) {
	type line struct {
		kind        thunder.Kind
		bytes       int
		path, alloc thunder.Path
	}
	for _, tt := range []struct {
		fabric string
		ranks  int
		lines  []line
	}{
		{"shm", 2, []line{
			{thunder.KindBarrier, 0, thunder.PathBoard, thunder.PathBoard},
			{thunder.KindAllReduce, 8, thunder.PathBoard, thunder.PathBoard},
			{thunder.KindAllReduce, 16 << 10, thunder.PathBoard, thunder.PathBoard},
			{thunder.KindAllReduce, 16<<10 + 4, thunder.PathRoundTrip, thunder.PathShared},
			{thunder.KindReduceScatter, 8 << 10, thunder.PathBoard, thunder.PathBoard},
			{thunder.KindReduceScatter, 8<<10 + 4, thunder.PathMessages, thunder.PathMessages},
		}},
		{"shm", 4, []line{
			{thunder.KindAllReduce, 512 << 10, thunder.PathMessages, thunder.PathShared},
			{thunder.KindAllReduce, 1 << 20, thunder.PathRoundTrip, thunder.PathShared},
		}},
		{"solo", 2, []line{
			{thunder.KindBarrier, 0, thunder.PathExchange, thunder.PathExchange},
			{thunder.KindAllReduce, 8 << 10, thunder.PathExchange, thunder.PathExchange},
			{thunder.KindAllReduce, 8<<10 + 4, thunder.PathMessages, thunder.PathMessages},
		}},
		{"solo", 3, []line{{thunder.KindAllReduce, 8, thunder.PathMessages, thunder.PathMessages}}},
	} {
		comms := fabrics[tt.fabric](t, tt.ranks, thunder.Options{})
		each(t, tt.ranks, func(r int) error { return thunder.Barrier(context.Background(), comms[r]) })
		for _, l := range tt.lines {
			for _, c := range comms {
				got := c.Choice(l.kind, thunder.Auto, thunder.F32, l.bytes/4)
				if got.Path != l.path || got.PathAlloc != l.alloc {
					t.Errorf("%s, rank %d of %d: %v of %d bytes: %v, with Alloc %v; want %v and %v",
						tt.fabric, c.Rank(), tt.ranks, l.kind, l.bytes, got.Path, got.PathAlloc, l.path, l.alloc)
				}
			}
		}
	}
}
