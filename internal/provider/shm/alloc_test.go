package shm_test

import (
	"sync"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/provider/shm"
)

// acquaint makes two ranks meet.
func acquaint(t *testing.T, fs []fabric.Fabric, a, b int) {
	t.Helper()
	var both sync.WaitGroup
	for _, p := range [][2]int{{a, b}, {b, a}} {
		both.Go(func() {
			if _, err := fs[p[0]].Link(t.Context(), p[1], 3); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
}

// TestLatecomer: a rank that is met after memory was shared with others gets it as well, and
// what it has not mapped when it is freed it cannot map any more.
func TestLatecomer(t *testing.T) {
	fs := ranks(t, 3, shm.Config{})
	for _, f := range fs {
		defer f.Close()
	}
	owner := fs[0].(fabric.Sharer)
	acquaint(t, fs, 0, 1)
	mem, err := owner.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	mem[7] = 42
	for _, peer := range []int{1, 2} {
		if peer == 2 {
			acquaint(t, fs, 0, 2)
		}
		h, ok := owner.Share(mem)
		if !ok {
			t.Fatal("memory of Alloc is not shared")
		}
		for range 2 { // mapped, and then known
			got, err := fs[peer].(fabric.Sharer).Reach(0, h, 100)
			if err != nil {
				t.Fatal(err)
			}
			if got[7] != 42 {
				t.Errorf("rank %d does not see what was written", peer)
			}
		}
	}
	second, err := owner.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := owner.Share(second)
	if got, err := fs[1].(fabric.Sharer).Reach(0, h, 100); err != nil || len(got) != 100 {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if err := owner.Free(second); err != nil {
		t.Error(err)
	}
	fs[0].Close()
	if _, err := fs[2].(fabric.Sharer).Reach(0, h, 100); err == nil {
		t.Error("mapped memory that was freed")
	}
}
