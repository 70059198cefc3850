package fabrictest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"thundercollective/fabric"
)

// testPost posts until the path is full, small and large, and checks that all
// arrives in order.
func testPost(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
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
			done, err := a.Post(tagOf(i), buf)
			if err != nil {
				t.Errorf("post %d bytes: %v", n, err)
				return
			}
			if done && n == h.Large {
				t.Errorf("%d bytes were taken at once with no receiver", n)
			}
			if !done {
				letGo()
				if err := a.Await(ctx, 0); err != nil {
					t.Errorf("await %d bytes: %v", n, err)
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

// testPostBehind posts short messages behind a long one, with nobody there to receive:
// none of them is done, tags are the caller's again at once, and buffers come back in
// order, one by one.
func testPostBehind(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	ctx := context.Background()
	sizes := []int{h.Large, 0, 8, 3000, 100_000, 8}
	bufs := make([][]byte, len(sizes))
	var tag fabric.Tag
	for i, n := range sizes {
		bufs[i] = make([]byte, n)
		fill(bufs[i], i)
		tag = *tagOf(i)
		done, err := a.Post(&tag, bufs[i])
		tag = fabric.Tag{}
		if err != nil {
			t.Fatal(err)
		}
		if done {
			t.Fatalf("message %d of %d bytes is done although the first one cannot be", i, n)
		}
	}
	if err := a.Await(ctx, len(sizes)); err != nil {
		t.Fatal(err)
	}
	received := make(chan error, 1)
	go func() {
		for i, n := range sizes {
			if err := recvPieces(ctx, b, i, n); err != nil {
				received <- err
				return
			}
		}
		received <- nil
	}()
	within(t, "messages behind a long one", func() {
		for i := range sizes {
			if err := a.Await(ctx, len(sizes)-1-i); err != nil {
				t.Error(err)
			}
			clear(bufs[i])
		}
		if err := <-received; err != nil {
			t.Error(err)
		}
		if done, err := a.Post(tagOf(9), []byte{1}); err != nil || !done {
			t.Errorf("a short message on an idle link: done %v, %v", done, err)
		}
	})
}

// testCancelPost: the end of the context gives all buffers back, and breaks the link.
func testCancelPost(t *testing.T, h Harness) {
	fs, a, b := pair(t, h, 1)
	defer closeAll(t, fs)
	bufs := [][]byte{make([]byte, h.Large), make([]byte, 8), make([]byte, h.Large)}
	for i, buf := range bufs {
		if _, err := a.Post(tagOf(i), buf); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	got := make(chan error, 1)
	go func() { got <- a.Await(ctx, 1) }()
	cancel(errStop)
	within(t, "a cancelled await", func() {
		if err := <-got; !errors.Is(err, errStop) {
			t.Errorf("got %v, want the cause of the context", err)
		}
	})
	for _, buf := range bufs {
		clear(buf) // ours again; the race detector sees who still reads it
	}
	if _, err := a.Post(tagOf(1), nil); err == nil {
		t.Error("the link posts on after a cancelled call")
	}
	if err := a.Await(context.Background(), 0); err == nil {
		t.Error("the link awaits on after a cancelled call")
	}
	// The other direction still works.
	within(t, "the other direction", func() {
		if err := fabric.Send(context.Background(), b, tagOf(3), []byte("1234")); err != nil {
			t.Error(err)
		}
		if err := a.Recv(context.Background(), tagOf(3), make([]byte, 4)); err != nil {
			t.Error(err)
		}
	})
}
