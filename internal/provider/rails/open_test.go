package rails

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestAbandonWakes: whoever waits for the first stream of a link learns that there will
// be none, though no other stream fails after that.
func TestAbandonWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &link{ready: make(chan struct{}), streams: make([]*stream, 2)}
		l.ctx, l.stop = context.WithCancelCause(t.Context())
		l.out.wake.L, l.in.wake.L = &l.mu, &l.mu
		got := make(chan error)
		go func() { got <- l.waitForRails(t.Context()) }()
		synctest.Wait()
		want := errors.New("crosswise")
		l.abandon(want)
		if err := <-got; !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	})
}
