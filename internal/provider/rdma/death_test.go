package rdma_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/provider/rdma"
	"thundercollective/internal/provider/rdma/rdmatest"
)

// TestDeathMidTransfer kills a peer while large messages move in both directions.
// The survivor gets a typed error, and closing it leaves nothing on the devices.
func TestDeathMidTransfer(t *testing.T) {
	const n = 4 << 20
	for _, p := range []struct {
		name string
		opt  rdmatest.Options
	}{{"RC", rdmatest.RoCE()}, {"UC", rdmatest.Thunderbolt()}} {
		for _, registered := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,registered=%v", p.name, registered), func(t *testing.T) {
				j := railed(t, p.opt, 2, rdma.Config{})
				a, b := j.join(t, 0, 1, 1)
				ctx := context.Background()
				started := make(chan struct{})
				// The victim echoes until it is gone.
				victim := make(chan struct{})
				go func() {
					defer close(victim)
					buf := buffer(t, j.fabrics[1], n, registered)
					for i := 0; b.Recv(ctx, &fabric.Tag{byte(i)}, buf) == nil && fabric.Send(ctx, b, &fabric.Tag{byte(i)}, buf) == nil; i++ {
					}
				}()
				errs := make(chan error, 2)
				go func() {
					buf := buffer(t, j.fabrics[0], n, registered)
					for i := 0; ; i++ {
						if err := fabric.Send(ctx, a, &fabric.Tag{byte(i)}, buf); err != nil {
							errs <- err
							return
						}
					}
				}()
				go func() {
					buf := buffer(t, j.fabrics[0], n, registered)
					for i := 0; ; i++ {
						if err := a.Recv(ctx, &fabric.Tag{byte(i)}, buf); err != nil {
							errs <- err
							return
						}
						if i == 1 {
							close(started)
						}
					}
				}()
				<-started
				j.kill(1)
				for range 2 {
					var lost *fabric.LostError
					if err := <-errs; !errors.As(err, &lost) || lost.Peer != 1 {
						t.Errorf("got %v, want a LostError for rank 1", err)
					}
				}
				<-victim
			})
		}
	}
}
