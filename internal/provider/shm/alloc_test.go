package shm_test

import (
	"context"
	"sync"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/provider/shm"
)

// sharedBy has some ranks find out what they share, on a channel of their own.
func sharedBy(t *testing.T, fs []fabric.Fabric, ch fabric.Channel, list ...int) []fabric.Memory {
	t.Helper()
	ms := make([]fabric.Memory, len(list))
	var all sync.WaitGroup
	for i, r := range list {
		all.Go(func() {
			var err error
			if ms[i], err = fs[r].Memory(context.Background(), ch, list); err != nil || ms[i] == nil {
				t.Errorf("rank %d: %v, %v", r, ms[i], err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() {
		for _, m := range ms {
			m.Close()
		}
	})
	return ms
}

// TestLatecomer: a rank that is met after memory was shared with others gets it as well, and
// what it has not mapped when it is freed it cannot map any more.
func TestLatecomer(t *testing.T) {
	fs := ranks(t, 3, shm.Config{})
	for _, f := range fs {
		t.Cleanup(func() { f.Close() })
	}
	owner := fs[0]
	with1 := sharedBy(t, fs, 3, 0, 1)
	mem, err := owner.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	mem[7] = 42
	var with2 []fabric.Memory
	for _, peer := range []int{1, 2} {
		ms := with1
		if peer == 2 {
			with2 = sharedBy(t, fs, 4, 0, 2)
			ms = with2
		}
		h, ok := ms[0].Share(mem)
		if !ok {
			t.Fatal("memory of Alloc is not shared")
		}
		for range 2 { // mapped, and then known
			got, err := ms[1].Map(0, h, 100)
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
	h, _ := with1[0].Share(second)
	if got, err := with1[1].Map(0, h, 100); err != nil || len(got) != 100 {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if err := owner.Free(second); err != nil {
		t.Error(err)
	}
	with1[0].Close()
	with2[0].Close()
	fs[0].Close()
	if _, err := with2[1].Map(0, h, 100); err == nil {
		t.Error("mapped memory that was freed")
	}
}
