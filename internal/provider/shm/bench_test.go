package shm_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/provider/shm"
)

// BenchmarkMessage is what sending and receiving a message costs when nobody has to
// be waited for.
func BenchmarkMessage(b *testing.B) {
	for _, n := range []int{8, 4096} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			near, far, stop := opened(b)
			defer stop()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			tag, buf := &fabric.Tag{1}, make([]byte, n)
			b.SetBytes(int64(n))
			for b.Loop() {
				if done, err := near.Post(tag, buf); !done || err != nil {
					b.Fatal(done, err)
				}
				if err := far.Recv(ctx, tag, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// opened returns both ends of a link.
func opened(b *testing.B) (near, far fabric.Link, stop func()) {
	fs := ranks(b, 2, shm.Config{Spin: 50 * time.Microsecond})
	got := make(chan fabric.Link)
	go func() {
		l, err := fs[1].Link(context.Background(), 0, 1)
		if err != nil {
			b.Error(err)
		}
		got <- l
	}()
	near, err := fs[0].Link(context.Background(), 1, 1)
	if err != nil {
		b.Fatal(err)
	}
	return near, <-got, func() { fs[0].Close(); fs[1].Close() }
}

// BenchmarkPingPong is there and back between two goroutines.
func BenchmarkPingPong(b *testing.B) {
	for _, n := range []int{8, 4096, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			near, far, stop := opened(b)
			defer stop()
			ctx := context.Background()
			tag := &fabric.Tag{1}
			go func() {
				buf := make([]byte, n)
				for far.Recv(ctx, tag, buf) == nil && fabric.Send(ctx, far, tag, buf) == nil {
				}
			}()
			buf := make([]byte, n)
			b.SetBytes(int64(2 * n))
			for b.Loop() {
				if err := fabric.Send(ctx, near, tag, buf); err != nil {
					b.Fatal(err)
				}
				if err := near.Recv(ctx, tag, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
