package ctxwatch

import (
	"context"
	"testing"
	"time"
)

// await fails the test unless the watch calls within a second, or if it calls though
// it must not.
func await(t *testing.T, called <-chan struct{}, want bool) {
	t.Helper()
	limit := time.Second
	if !want {
		limit = 20 * time.Millisecond
	}
	select {
	case <-called:
		if !want {
			t.Error("called for a context that is not watched")
		}
	case <-time.After(limit):
		if want {
			t.Error("not called when the context ended")
		}
	}
}

func TestWatch(t *testing.T) {
	called := make(chan struct{}, 8)
	w := New(func() { called <- struct{}{} })
	first, endFirst := context.WithCancel(t.Context())
	second, endSecond := context.WithCancel(t.Context())
	third, endThird := context.WithCancel(t.Context())
	w.Set(first)
	w.Set(second)
	endFirst()
	await(t, called, false)
	endSecond()
	await(t, called, true)
	w.Set(context.Background())
	w.Set(third)
	w.Clear()
	endThird()
	await(t, called, false)
	w.Set(third) // it has ended
	await(t, called, true)
}

func TestSameContextAllocatesNothing(t *testing.T) {
	w := New(func() {})
	ctx := t.Context()
	w.Set(ctx)
	if n := testing.AllocsPerRun(100, func() { w.Set(ctx) }); n != 0 {
		t.Errorf("%v allocations for a context that is watched already", n)
	}
	w.Clear()
}
