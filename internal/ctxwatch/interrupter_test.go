package ctxwatch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestInterrupter: a call is interrupted by the end of its own context only, and while it
// is under way.
func TestInterrupter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []error
		i := Interrupter{Interrupt: func(why error) { got = append(got, why) }}
		stop := errors.New("stop")
		first, endFirst := context.WithCancelCause(t.Context())
		second, endSecond := context.WithCancelCause(t.Context())
		if err := i.Begin(first); err != nil {
			t.Fatal(err)
		}
		i.End()
		endFirst(stop) // the call is over
		synctest.Wait()
		if err := i.Begin(first); !errors.Is(err, stop) {
			t.Errorf("a call with a context that has ended begins: %v", err)
		}
		for range 2 { // registers once
			if err := i.Begin(second); err != nil {
				t.Fatal(err)
			}
		}
		if len(got) != 0 {
			t.Errorf("interrupted by %v", got)
		}
		endSecond(stop)
		synctest.Wait()
		if len(got) != 1 || !errors.Is(got[0], stop) {
			t.Errorf("interrupted by %v, want the cause", got)
		}
		i.End()
		if err := i.Begin(t.Context()); err != nil { // lets calls block again
			t.Error(err)
		}
		if len(got) != 2 || got[1] != nil {
			t.Errorf("interrupted by %v, then not let go", got)
		}
		i.End()
		i.Stop()
	})
}
