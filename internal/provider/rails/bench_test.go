package rails_test

import (
	"context"
	"fmt"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/provider/rails"
)

// BenchmarkPingPong sends a message there and back; ns/op is a round trip.
func BenchmarkPingPong(b *testing.B) {
	for _, n := range []int{8, 65536} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x, y := benchLinks(b)
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

// BenchmarkStream moves large messages one way.
func BenchmarkStream(b *testing.B) {
	const n = 16 << 20
	x, y := benchLinks(b)
	ctx, tag := context.Background(), &fabric.Tag{}
	go func() {
		buf := make([]byte, n)
		for fabric.Send(ctx, x, tag, buf) == nil {
		}
	}()
	buf := make([]byte, n)
	b.SetBytes(n)
	for b.Loop() {
		if err := y.Recv(ctx, tag, buf); err != nil {
			b.Fatal(err)
		}
	}
}

func benchLinks(b *testing.B) (x, y fabric.Link) {
	fs := ranks(b, 2, 2, rails.Config{})
	b.Cleanup(func() { fs[0].Close(); fs[1].Close() })
	done := make(chan struct{})
	go func() {
		defer close(done)
		x, _ = fs[0].Link(context.Background(), 1, 1)
	}()
	y, _ = fs[1].Link(context.Background(), 0, 1)
	<-done
	return x, y
}
