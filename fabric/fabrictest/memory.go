package fabrictest

import (
	"bytes"
	"context"
	"testing"
	"unsafe"

	"thundercollective/fabric"
	"thundercollective/internal/patience"
)

// memories has the first n ranks find out what they share, on channel 1.
func memories(t *testing.T, fs []fabric.Fabric, n int) []fabric.Memory {
	t.Helper()
	ranks := make([]int, n)
	for r := range ranks {
		ranks[r] = r
	}
	ms := make([]fabric.Memory, n)
	together(t, n, func(r int) (err error) {
		ctx, cancel := patience.Context(context.Background(), limit)
		defer cancel()
		ms[r], err = fs[r].Memory(ctx, 1, ranks)
		return err
	})
	if t.Failed() {
		t.FailNow()
	}
	return ms
}

func closeMemories(t *testing.T, ms []fabric.Memory) {
	t.Helper()
	for r, m := range ms {
		if m == nil {
			continue
		}
		if err := m.Close(); err != nil {
			t.Errorf("rank %d: closing the memory: %v", r, err)
		}
	}
}

// sharing makes n ranks that share memory, and a function that closes everything.
func sharing(t *testing.T, h Harness, n int) (fs []fabric.Fabric, ms []fabric.Memory, stop func()) {
	t.Helper()
	fs = start(t, h, n)
	ms = memories(t, fs, n)
	for r, m := range ms {
		if m == nil {
			closeAll(t, fs)
			t.Fatalf("rank %d shares no memory", r)
		}
	}
	return fs, ms, func() {
		closeMemories(t, ms)
		closeAll(t, fs)
	}
}

// testAlloc: memory of Alloc is zeroed and aligned, and is given back whole and once.
func testAlloc(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	f := fs[0]
	for _, n := range []int{1, 10_000, 3 << 20} {
		mem, err := f.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		if len(mem) != n || !bytes.Equal(mem, make([]byte, n)) {
			t.Errorf("%d bytes were asked for, and %d given, or they are not zeroed", n, len(mem))
		}
		if uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%64 != 0 {
			t.Errorf("%d bytes are at %p", n, mem)
		}
		fill(mem, 1)
		sent := make(chan error, 1)
		go func() { sent <- fabric.Send(context.Background(), a, tagOf(1), mem) }()
		within(t, "a message of such memory", func() {
			if err := recvPieces(context.Background(), b, 1, n); err != nil {
				t.Error(err)
			}
			if err := <-sent; err != nil {
				t.Error(err)
			}
		})
		if n > 1 {
			if err := f.Free(mem[1:]); err == nil {
				t.Error("freed a part")
			}
		}
		if err := f.Free(mem); err != nil {
			t.Error(err)
		}
	}
	if err := f.Free(make([]byte, 10_000)); err == nil {
		t.Error("freed memory of the heap")
	}
	if _, err := f.Alloc(0); err == nil {
		t.Error("allocated nothing")
	}
	other := make([]byte, 1<<20)
	if err := f.Register(other); err != nil {
		t.Errorf("registering memory of the heap: %v", err)
	}
	if err := f.Unregister(other); err != nil {
		t.Errorf("unregistering it: %v", err)
	}
}

// testZeroCopy: memory of Alloc crosses without a copy, registered memory does as long as
// it is registered, and that of the heap does not; or all is copied, if so declared.
func testZeroCopy(t *testing.T, h Harness) {
	const n = 1 << 20
	if h.Copied == nil {
		if h.Abilities.ZeroCopy {
			t.Error("nobody counts the copies that memory of Alloc is said to do without")
		}
		return
	}
	want := uint64(2 * n)
	if h.Abilities.ZeroCopy {
		want = 0
	}
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	copied := func(src, dst []byte) uint64 {
		t.Helper()
		before := h.Copied(a) + h.Copied(b)
		fill(src, 1)
		sent := make(chan error, 1)
		go func() { sent <- fabric.Send(context.Background(), a, tagOf(1), src) }()
		within(t, "a message", func() {
			if err := recvWhole(context.Background(), b, 1, dst); err != nil {
				t.Error(err)
			}
			if err := <-sent; err != nil {
				t.Error(err)
			}
		})
		return h.Copied(a) + h.Copied(b) - before
	}
	var own, registered [2][]byte
	for r, f := range fs {
		var err error
		if own[r], err = f.Alloc(n); err != nil {
			t.Fatal(err)
		}
		registered[r] = make([]byte, n)
		if err := f.Register(registered[r]); err != nil {
			t.Fatal(err)
		}
	}
	if got := copied(own[0], own[1]); got != want {
		t.Errorf("%d bytes of memory of Alloc were copied, want %d", got, want)
	}
	if got := copied(registered[0], registered[1]); got != want {
		t.Errorf("%d bytes of registered memory were copied, want %d", got, want)
	}
	for r, f := range fs {
		if err := f.Unregister(registered[r]); err != nil {
			t.Error(err)
		}
	}
	if got := copied(registered[0], registered[1]); got != 2*n {
		t.Errorf("%d bytes of memory that is no longer registered were copied, want %d at either end", got, n)
	}
}

// testMap: memory of Alloc is mapped by the peer.
func testMap(t *testing.T, h Harness) {
	fs, ms, stop := sharing(t, h, 2)
	defer stop()
	f, a, b := fs[0], ms[0], ms[1]
	mem, err := f.Alloc(10_000)
	if err != nil {
		t.Fatal(err)
	}
	named, ok := a.Share(mem[100:200])
	if !ok || named == (fabric.Handle{}) || named[len(named)-1] != 0 {
		t.Fatalf("memory of Alloc has the handle %x, %v", named, ok)
	}
	named[len(named)-1] = 7 // is for the caller to use
	theirs, err := b.Map(0, named, 100)
	if err != nil {
		t.Fatal(err)
	}
	theirs[0] = 42
	if mem[100] != 42 {
		t.Error("the memory is not shared")
	}
	if _, err := b.Map(0, named, 1<<20); err == nil {
		t.Error("mapped more than the memory")
	}
	if _, err := b.Map(0, fabric.Handle{1, 2, 3, 4, 5}, 1); err == nil {
		t.Error("mapped memory that was never shared")
	}
	if _, ok := a.Share(make([]byte, 10)); ok {
		t.Error("memory of the heap was shared")
	}
	if err := f.Free(mem); err != nil {
		t.Error(err)
	}
	again, err := f.Alloc(10_000)
	if err != nil {
		t.Fatal(err)
	}
	named, _ = a.Share(again)
	if theirs, err = b.Map(0, named, 1); err != nil || theirs[0] != 0 {
		t.Errorf("the peer sees memory that was freed: %v", err)
	}
}

// testReadAt: all memory can be read by the peer.
func testReadAt(t *testing.T, h Harness) {
	_, ms, stop := sharing(t, h, 2)
	defer stop()
	a, b := ms[0], ms[1]
	mem := make([]byte, 3<<20+5)
	fill(mem, 1)
	part := mem[1000:]
	named, ok := a.Locate(part)
	if !ok || named == (fabric.Handle{}) || named[len(named)-1] != 0 {
		t.Fatalf("memory of the heap has the handle %x, %v", named, ok)
	}
	named[len(named)-1] = 7 // is for the caller to use
	got := make([]byte, len(part)-77)
	if err := b.ReadAt(0, named, 77, got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, part[77:]) {
		t.Error("what was read is not what is there")
	}
	if err := b.ReadAt(0, named, 0, nil); err != nil {
		t.Errorf("reading nothing: %v", err)
	}
	if err := b.ReadAt(0, fabric.Handle{1, 2, 3, 4, 5}, 0, got); err == nil {
		t.Error("read memory that was never named")
	}
	if err := b.ReadAt(0, named, 1<<50, got[:1]); err == nil {
		t.Error("read where there is no memory")
	}
	if _, ok := a.Locate(nil); ok {
		t.Error("no memory at all was named")
	}
	allocs := testing.AllocsPerRun(20, func() {
		named, _ := a.Locate(part)
		if err := b.ReadAt(0, named, 0, got); err != nil {
			t.Error(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations to read, want 0", allocs)
	}
}
