package tcp_test

import (
	"sync"
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/provider/tcp"
)

// TestBothWays sends long messages both ways at once over links of a single stream,
// with a goroutine for each direction: who waits to send and who waits to receive
// both move on what is posted, and each has to notice when the other did.
func TestBothWays(t *testing.T) {
	const count, size = 300, 1 << 20
	for _, spin := range []time.Duration{0, 20 * time.Microsecond} {
		t.Run("spin "+spin.String(), func(t *testing.T) {
			fs := ranks(t, 2, "127.0.0.1", tcp.Config{Streams: 1, Spin: spin})
			defer fs[0].Close()
			defer fs[1].Close()
			a, b := connect(t, fs[0], fs[1], 1)
			tag := &fabric.Tag{1}
			var wg sync.WaitGroup
			for _, l := range []fabric.Link{a, b} {
				wg.Go(func() {
					buf := make([]byte, size)
					for range count {
						if err := fabric.Send(t.Context(), l, tag, buf); err != nil {
							t.Error(err)
							return
						}
					}
				})
				wg.Go(func() {
					buf := make([]byte, size)
					for range count {
						if err := l.Recv(t.Context(), tag, buf); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			done := make(chan struct{})
			go func() { wg.Wait(); close(done) }()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Error("still under way after a minute")
				a.Close()
				b.Close()
				<-done
			}
		})
	}
}
