package rdma_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/fabric/fabrictest"
	"thundercollective/internal/provider/rdma"
	"thundercollective/internal/provider/rdma/rdmatest"
	"thundercollective/internal/provider/shm"
)

// stacked returns ranks of hosts with two ranks each, which share memory, over RDMA between
// the hosts.
func stacked(t *testing.T, hosts int) (j *job, fs []fabric.Fabric) {
	t.Helper()
	n := 2 * hosts
	j = newJob(t, n, rdmatest.RoCE(), rdma.Config{Spin: 20 * time.Microsecond})
	for r, f := range j.fabrics {
		s, err := shm.New(shm.Config{Bootstrap: f, Near: func(peer int) bool { return peer/2 == r/2 }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		fs = append(fs, s)
	}
	return j, fs
}

// linked opens the link between two ranks from both ends.
func linked(t *testing.T, fs []fabric.Fabric, a, b int) (la, lb fabric.Link) {
	t.Helper()
	var wg sync.WaitGroup
	var ea, eb error
	wg.Go(func() { la, ea = fs[a].Link(t.Context(), b, 1) })
	wg.Go(func() { lb, eb = fs[b].Link(t.Context(), a, 1) })
	wg.Wait()
	if ea != nil || eb != nil {
		t.Fatalf("links: %v, %v", ea, eb)
	}
	return la, lb
}

// TestSharedMemoryIsRegistered has two hosts of two ranks. Memory of Alloc is shared within
// a host, and crosses between hosts without a copy: from start to end no byte of it is
// copied on the way to or from the devices.
func TestSharedMemoryIsRegistered(t *testing.T) {
	const n = 1<<20 + 333
	j, fs := stacked(t, 2)
	mems := make([][]byte, len(fs))
	for r, f := range fs {
		before := j.fabrics[r].Resources().MRs
		var err error
		if mems[r], err = f.Alloc(n); err != nil {
			t.Fatal(err)
		}
		if got := j.fabrics[r].Resources().MRs - before; got != 3 { // one with each device
			t.Errorf("rank %d: %d registrations for memory of Alloc, want 3", r, got)
		}
	}
	ms := make([]fabric.Memory, 2)
	var wg sync.WaitGroup
	for r := range ms {
		wg.Go(func() {
			var err error
			if ms[r], err = fs[r].Memory(t.Context(), 2, []int{0, 1}); err != nil || ms[r] == nil {
				t.Errorf("rank %d shares no memory with its neighbour: %v", r, err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	named, ok := ms[0].Share(mems[0])
	if !ok {
		t.Fatal("memory of Alloc is not shared")
	}
	theirs, err := ms[1].Map(0, named, n)
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range [][2]int{{0, 2}, {2, 0}, {1, 3}, {0, 3}} {
		from, to := way[0], way[1]
		a, b := linked(t, fs, from, to)
		if _, ok := a.(*rdma.Link); !ok {
			t.Fatalf("the link between hosts is a %T", a)
		}
		for i := range 5 {
			tag := &fabric.Tag{byte(i)}
			pattern(mems[from], i)
			clear(mems[to])
			sent := make(chan error, 1)
			go func() { sent <- fabric.Send(t.Context(), a, tag, mems[from]) }()
			if err := b.Recv(t.Context(), tag, mems[to]); err != nil {
				t.Fatal(err)
			}
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(mems[from], mems[to]) {
				t.Fatal("wrong data")
			}
			if to == 0 && !bytes.Equal(theirs, mems[0]) {
				t.Error("the neighbour does not see what has arrived")
			}
		}
		if x, y := rdma.StatsOf(a).Copied, rdma.StatsOf(b).Copied; x != 0 || y != 0 {
			t.Errorf("from rank %d to rank %d: %d bytes were copied by the sender, %d by the receiver", from, to, x, y)
		}
	}
	for r, f := range fs {
		before := j.fabrics[r].Resources().MRs
		if err := f.Free(mems[r]); err != nil {
			t.Error(err)
		}
		if got := before - j.fabrics[r].Resources().MRs; got != 3 {
			t.Errorf("rank %d: %d registrations ended with the memory, want 3", r, got)
		}
	}
	for _, m := range ms {
		m.Close()
	}
}

// TestStackedBacklog: what is posted moves on, over RDMA and over shared memory, whichever
// the poster waits for.
func TestStackedBacklog(t *testing.T) {
	_, fs := stacked(t, 2)
	fabrictest.Backlog(t, fs[:3], 8<<20)
}

// TestRegister: memory can be registered once, and as long as the fabric is open.
func TestRegister(t *testing.T) {
	j := newJob(t, 2, rdmatest.RoCE(), rdma.Config{})
	f, b := j.fabrics[0], make([]byte, 100_000)
	if err := f.Register(b); err != nil {
		t.Fatal(err)
	}
	if f.Register(b[:10]) == nil || f.Register(b) == nil {
		t.Error("registered twice")
	}
	if f.Unregister(b[1:]) == nil || f.Free(b) == nil {
		t.Error("a part was unregistered, or registered memory was freed")
	}
	if err := f.Unregister(b); err != nil {
		t.Error(err)
	}
	if f.Unregister(b) == nil {
		t.Error("unregistered twice")
	}
	if err := f.Register(b); err != nil { // Close ends it
		t.Error(err)
	}
	f.Close()
	if f.Register(make([]byte, 10)) == nil {
		t.Error("registered with a closed fabric")
	}
	if err := f.Unregister(b); err != nil {
		t.Error(err)
	}
}
