package rails_test

import (
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/provider/rails"
)

// TestOnly sends over one rail alone, then the other, then both, and says so by
// what each has carried.
func TestOnly(t *testing.T) {
	fs := ranks(t, 2, 2, rails.Config{Stall: never}) // no failover on a busy machine
	defer closeAll(t, fs)
	a, b := join(t, fs, 1)
	f := fs[0].(*rails.Fabric)
	buf, tag := make([]byte, 8<<20), &fabric.Tag{}
	// pass sends a message and returns what went over each rail for it.
	pass := func() (sent [2]uint64) {
		t.Helper()
		before := f.Rails()
		done := make(chan error, 1)
		go func() { done <- fabric.Send(t.Context(), a, tag, buf) }()
		if err := b.Recv(t.Context(), tag, make([]byte, len(buf))); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		for i, r := range f.Rails() {
			sent[i] = r.Sent - before[i].Sent
		}
		return sent
	}
	for _, rail := range []int{0, 1, 0} {
		if err := f.Only(1, rail); err != nil {
			t.Fatal(err)
		}
		if sent := pass(); sent[rail] != uint64(len(buf)) || sent[1-rail] != 0 {
			t.Errorf("only rail %d, and the rails carried %v", rail, sent)
		}
	}
	if err := f.Only(1, -1); err != nil {
		t.Fatal(err)
	}
	sent := pass()
	for range 100 { // on a busy machine one of them may get to everything
		if sent[0] > 0 && sent[1] > 0 {
			break
		}
		sent = pass()
	}
	if sent[0] == 0 || sent[1] == 0 {
		t.Errorf("both rails, and they carried %v", sent)
	}
	for _, bad := range [][2]int{{0, 0}, {1, 2}, {2, 0}, {-1, 0}} {
		if err := f.Only(bad[0], bad[1]); err == nil {
			t.Errorf("rank 0 may send to rank %d over rail %d only", bad[0], bad[1])
		}
	}
}

// TestOnlyLost: the others take over from a rail that is lost.
func TestOnlyLost(t *testing.T) {
	fs := ranks(t, 2, 2, rails.Config{Stall: never})
	defer closeAll(t, fs)
	a, b := join(t, fs, 1)
	f, tag := fs[0].(*rails.Fabric), &fabric.Tag{}
	if err := f.Only(1, 1); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		for range 20 {
			if err := fabric.Send(t.Context(), a, tag, make([]byte, 1<<20)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for i := range 20 {
		if i == 5 {
			f.Cut(1, 1)
		}
		if err := b.Recv(t.Context(), tag, make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
