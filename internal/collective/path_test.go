package collective

import "testing"

// TestDecide: ranks that are certain of the shared path ask, and those that cannot read
// each other's memory ask only where much is to be gained.
func TestDecide(t *testing.T) {
	for _, tt := range []struct {
		kind         Kind
		size         int
		bytes        int
		reads        bool
		ask, certain bool
	}{
		{AllReduce, 2, 16 << 10, true, true, false},
		{AllReduce, 2, 16 << 10, false, true, false},
		{AllReduce, 2, 16 << 20, true, true, false},
		{AllReduce, 2, 16 << 20, false, true, false},
		{AllReduce, 2, 64 << 20, true, true, false},
		{AllReduce, 4, 64 << 20, true, true, false},
		{AllGather, 2, 64 << 10, true, true, true},
		{AllGather, 2, 64 << 10, false, false, false},
		{AllGather, 4, 64 << 20, false, true, false},
		{AllGather, 4, 4 << 10, true, false, false},
		{ReduceScatter, 2, 64 << 10, true, true, true},
		{ReduceScatter, 4, 64 << 20, true, true, false},
		{Broadcast, 2, 512 << 10, true, true, true},
		{Broadcast, 2, 16 << 20, true, true, false},
		{Broadcast, 3, 16 << 20, true, true, true},
		{Reduce, 4, 64 << 20, true, false, false},
		{Gather, 2, 64 << 20, true, false, false},
		{Barrier, 4, 0, true, false, false},
		{Send, 4, 64 << 20, true, false, false},
	} {
		f := facts{room: -1, short: -1, shares: true, reads: tt.reads}
		p := &Plan{spec: Spec{Kind: tt.kind, Size: tt.size}, layout: layout{block: tt.bytes}, posted: -1, mayShare: true}
		ask := f.decide(p) == PathShared
		if certain := ask && f.settle(p, false, f.reads) == PathShared; ask != tt.ask || certain != tt.certain {
			t.Errorf("%+v: got %v, %v", tt, ask, certain)
		}
		if got := f.certain(p); got != tt.certain {
			t.Errorf("%+v: certain is %v", tt, got)
		}
		p.mayShare = false
		if got := f.decide(p); got != PathMessages {
			t.Errorf("%+v: a plan that may not share takes the path %v", tt, got)
		}
	}
}
