package tcp_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/provider/tcp"
)

// BenchmarkPingPong sends a message there and back; ns/op is a round trip.
func BenchmarkPingPong(b *testing.B) {
	for _, spin := range []time.Duration{0, 30 * time.Microsecond} {
		for _, n := range []int{8, 4096, 65536} {
			b.Run(fmt.Sprintf("spin=%v/%d", spin, n), func(b *testing.B) {
				x, y := benchLinks(b, tcp.Config{Streams: 1, Spin: spin})
				ctx, tag := context.Background(), &fabric.Tag{}
				go func() {
					buf := make([]byte, n)
					for y.Recv(ctx, tag, buf) == nil && fabric.Send(ctx, y, tag, buf) == nil {
					}
				}()
				buf := make([]byte, n)
				b.SetBytes(int64(2 * n))
				for b.Loop() {
					if fabric.Send(ctx, x, tag, buf) != nil || x.Recv(ctx, tag, buf) != nil {
						b.Fatal("link broke")
					}
				}
			})
		}
	}
}

// BenchmarkStream moves large messages one way.
func BenchmarkStream(b *testing.B) {
	for _, streams := range []int{1, 2, 4} {
		for _, n := range []int{1 << 20, 16 << 20} {
			b.Run(fmt.Sprintf("streams=%d/%dMiB", streams, n>>20), func(b *testing.B) {
				x, y := benchLinks(b, tcp.Config{Streams: streams})
				ctx, tag := context.Background(), &fabric.Tag{}
				go func() {
					buf := make([]byte, n)
					for fabric.Send(ctx, x, tag, buf) == nil {
					}
				}()
				buf := make([]byte, n)
				b.SetBytes(int64(n))
				for b.Loop() {
					if err := y.Recv(ctx, tag, buf); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func benchLinks(b *testing.B, cfg tcp.Config) (x, y fabric.Link) {
	fs := ranks(b, 2, "127.0.0.1", cfg)
	b.Cleanup(func() { fs[0].Close(); fs[1].Close() })
	var wg sync.WaitGroup
	wg.Go(func() { x, _ = fs[0].Link(context.Background(), 1, 1) })
	wg.Go(func() { y, _ = fs[1].Link(context.Background(), 0, 1) })
	wg.Wait()
	return x, y
}
