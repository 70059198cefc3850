package fabrictest

import (
	"bytes"
	"testing"

	"thundercollective/fabric"
)

// testSharing has ranks reach and read each other's memory, where they can.
func testSharing(t *testing.T, h Harness) {
	fs, _, _ := pair(t, h, 1)
	defer closeAll(t, fs)
	a, ok := fs[0].(fabric.Sharer)
	if !ok {
		return
	}
	b := fs[1].(fabric.Sharer)
	if a.Shares(1) != b.Shares(0) {
		t.Fatalf("rank 0 shares memory: %v, rank 1: %v", a.Shares(1), b.Shares(0))
	}
	if a.Shares(1) {
		testReach(t, a, b)
	}
	r, ok := fs[0].(fabric.Reader)
	if !ok {
		return
	}
	s := fs[1].(fabric.Reader)
	if r.Reads(1) != s.Reads(0) {
		t.Fatalf("rank 0 reads memory: %v, rank 1: %v", r.Reads(1), s.Reads(0))
	}
	if r.Reads(1) {
		testRead(t, r, s)
	}
}

func testReach(t *testing.T, a, b fabric.Sharer) {
	mem, err := a.Alloc(10_000)
	if err != nil {
		t.Fatal(err)
	}
	h, ok := a.Share(mem[100:200])
	if !ok || h == (fabric.Handle{}) || h[len(h)-1] != 0 {
		t.Fatalf("memory of Alloc has the handle %x, %v", h, ok)
	}
	h[len(h)-1] = 7 // is for the caller to use
	theirs, err := b.Reach(0, h, 100)
	if err != nil {
		t.Fatal(err)
	}
	theirs[0] = 42
	if mem[100] != 42 {
		t.Error("the memory is not shared")
	}
	if _, err := b.Reach(0, h, 1<<20); err == nil {
		t.Error("reached beyond the memory")
	}
	if _, err := b.Reach(0, fabric.Handle{1, 2, 3, 4, 5}, 1); err == nil {
		t.Error("reached memory that was never shared")
	}
	if _, ok := a.Share(make([]byte, 10)); ok {
		t.Error("memory of the heap was shared")
	}
	if err := a.Free(mem[1:]); err == nil {
		t.Error("freed a part")
	}
	if err := a.Free(mem); err != nil {
		t.Error(err)
	}
	again, err := a.Alloc(10_000)
	if err != nil {
		t.Fatal(err)
	}
	h, _ = a.Share(again)
	if theirs, err = b.Reach(0, h, 1); err != nil || theirs[0] != 0 {
		t.Errorf("the peer sees memory that was freed: %v", err)
	}
}

func testRead(t *testing.T, a, b fabric.Reader) {
	mem := make([]byte, 3<<20+5)
	fill(mem, 1)
	part := mem[1000:]
	h, ok := a.Locate(part)
	if !ok || h == (fabric.Handle{}) || h[len(h)-1] != 0 {
		t.Fatalf("memory of the heap has the handle %x, %v", h, ok)
	}
	h[len(h)-1] = 7 // is for the caller to use
	got := make([]byte, len(part)-77)
	if err := b.Read(0, h, 77, got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, part[77:]) {
		t.Error("what was read is not what is there")
	}
	if err := b.Read(0, h, 0, nil); err != nil {
		t.Errorf("reading nothing: %v", err)
	}
	if err := b.Read(0, fabric.Handle{1, 2, 3, 4, 5}, 0, got); err == nil {
		t.Error("read memory that was never named")
	}
	if err := b.Read(0, h, 1<<50, got[:1]); err == nil {
		t.Error("read where there is no memory")
	}
	if _, ok := a.Locate(nil); ok {
		t.Error("no memory at all was named")
	}
	allocs := testing.AllocsPerRun(20, func() {
		h, _ := a.Locate(part)
		if err := b.Read(0, h, 0, got); err != nil {
			t.Error(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations to read, want 0", allocs)
	}
}
