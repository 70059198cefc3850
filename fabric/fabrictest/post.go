package fabrictest

import (
	"context"
	"sync"
	"testing"

	"thundercollective/fabric"
)

// testPost posts until the path is full, small and large, and checks that all
// arrives in order.
func testPost(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	p, ok := a.(fabric.Poster)
	if !ok {
		t.Skip("provider has no Post")
	}
	ctx := context.Background()
	sizes := []int{0, 8, 4096, 100_000, h.Large, 0, 8, 0, 70_000}
	received := make(chan error, 1)
	release := make(chan struct{})
	letGo := sync.OnceFunc(func() { close(release) })
	go func() {
		<-release // nobody receives while the first ones are posted
		for i, n := range sizes {
			if err := recvWhole(ctx, b, i, make([]byte, n)); err != nil {
				received <- err
				return
			}
		}
		received <- nil
	}()
	within(t, "posting", func() {
		for i, n := range sizes {
			var buf []byte // nil for the empty ones, as barriers send them
			if n > 0 {
				buf = make([]byte, n)
			}
			fill(buf, i)
			done, err := p.Post(tagOf(i), buf)
			if err != nil {
				t.Errorf("post %d bytes: %v", n, err)
				return
			}
			if done && n == h.Large {
				t.Errorf("%d bytes were taken at once with no receiver", n)
			}
			if !done {
				letGo()
				if err := p.Flush(ctx); err != nil {
					t.Errorf("flush %d bytes: %v", n, err)
					return
				}
			}
			clear(buf)
		}
		letGo()
		if err := <-received; err != nil {
			t.Error(err)
		}
	})
}
