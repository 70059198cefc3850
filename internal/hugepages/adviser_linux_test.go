package hugepages

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"thundercollective/internal/hugepages/hugetest"
)

// possible skips where this kernel has no huge pages to give.
func possible(t *testing.T) {
	t.Helper()
	hugetest.OnDemand(t)
	switch err := collapse(hugetest.Memory(t, Min)); {
	case errors.Is(err, unix.EINVAL):
		t.Skip("the kernel is older than Linux 6.1")
	case errors.Is(err, unix.ENOMEM), errors.Is(err, unix.EAGAIN):
		t.Skipf("there is no room for a huge page: %v", err)
	case err != nil:
		t.Fatal(err)
	}
}

// TestUsed: a buffer gets its huge pages when it has been used a few times, not before,
// and keeps what is in it.
func TestUsed(t *testing.T) {
	possible(t)
	b := hugetest.Memory(t, 3*pageSize)
	for i := range b {
		b[i] = byte(i * 7 >> 3)
	}
	want := bytes.Clone(b)
	var a Adviser
	for i := range enough + 2 {
		if before := hugetest.Huge(t, b); i < enough && before != 0 {
			t.Fatalf("%d bytes are huge after %d uses", before, i)
		}
		a.Used(b[i : len(b)-i]) // the same huge pages
	}
	if got := hugetest.Huge(t, b); got != 2*pageSize {
		t.Errorf("%d bytes are huge, want %d", got, 2*pageSize)
	}
	if !bytes.Equal(b, want) {
		t.Error("what was in the buffer has changed")
	}
}

// TestUsedAtOnce: several goroutines may say what they use.
func TestUsedAtOnce(t *testing.T) {
	var a Adviser
	var wg sync.WaitGroup
	for range 4 {
		b := hugetest.Memory(t, Min)
		wg.Go(func() {
			for range 2 * enough {
				a.Used(b)
			}
		})
	}
	wg.Wait()
	if a.next != 4 {
		t.Errorf("%d buffers are known, want 4", a.next)
	}
}

// TestUnused: short buffers, many different ones, and those of an adviser that is off are
// left alone.
func TestUnused(t *testing.T) {
	b := hugetest.Memory(t, 140*pageSize)
	var a Adviser
	off := Adviser{Off: true}
	for range 2 * enough {
		a.Used(b[:Min-1])
		off.Used(b)
		for i := range remembered + 1 {
			a.Used(b[i*2*pageSize:][:Min])
		}
	}
	if got := hugetest.Huge(t, b); got != 0 {
		t.Errorf("%d bytes are huge", got)
	}
}
