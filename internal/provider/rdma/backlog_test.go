package rdma_test

import (
	"context"
	"testing"

	"thundercollective/fabric"
)

// TestBacklog posts far more than the peer can hold, from registered and other
// memory, while the peer receives. The poster makes no other call meanwhile.
func TestBacklog(t *testing.T) {
	sizes := []int{100, 70_000, 0, 300_000, 5_000, 20_000}
	for _, p := range profiles {
		t.Run(p.name, func(t *testing.T) {
			j := newJob(t, 2, p.opt(), p.cfg)
			a, b := j.join(t, 0, 1, 1)
			ctx := context.Background()
			const count = 60
			var bufs [][]byte
			for i := range count {
				buf := make([]byte, sizes[i%len(sizes)])
				if i%4 == 1 {
					buf = buffer(t, j.fabrics[0], len(buf), true)
				}
				pattern(buf, i)
				bufs = append(bufs, buf)
				if _, err := a.Post(&fabric.Tag{byte(i)}, buf); err != nil {
					t.Fatal(err)
				}
			}
			received := make(chan struct{})
			go func() {
				defer close(received)
				for i := range count {
					got, want := make([]byte, sizes[i%len(sizes)]), make([]byte, sizes[i%len(sizes)])
					pattern(want, i)
					if err := b.Recv(ctx, &fabric.Tag{byte(i)}, got); err != nil {
						t.Error(err)
						return
					}
					if string(got) != string(want) {
						t.Errorf("message %d is wrong", i)
					}
				}
			}()
			if p.name == "RC" {
				<-received // nobody helps the posted ones along
			}
			for i := range count {
				if err := a.Await(ctx, count-1-i); err != nil {
					t.Fatal(err)
				}
				clear(bufs[i]) // ours again, in order
			}
			<-received
			if err := a.Await(ctx, 0); err != nil {
				t.Error(err)
			}
		})
	}
}
