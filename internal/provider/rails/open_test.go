package rails

import (
	"errors"
	"testing"
	"testing/synctest"
)

// TestAbandonWakes: a caller that waits for the first stream of a link returns when the
// link is abandoned, though no other stream fails after that.
func TestAbandonWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLink(&Fabric{ctx: t.Context(), cfg: Config{Streams: 1, Rails: [][]Rail{make([]Rail, 2)}}}, 0, 1)
		got := make(chan error)
		go func() { got <- l.opener.waitForRails(t.Context()) }()
		synctest.Wait()
		want := errors.New("crosswise")
		l.opener.abandon(want)
		if err := <-got; !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	})
}
