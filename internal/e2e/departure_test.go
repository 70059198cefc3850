package e2e_test

import (
	"errors"
	"fmt"
	"testing"

	thunder "thundercollective"
	"thundercollective/internal/freeaddr"
	"thundercollective/internal/leaks"
)

// TestFirstMessageOfDeparted has a rank send its first message to another, or none, and
// leave. The other, which asks for it when the first has long left, gets what was sent and
// an error for what was not, both without waiting for more.
func TestFirstMessageOfDeparted(t *testing.T) {
	for _, fab := range []string{"tcp", "shm"} {
		for _, from := range []int{0, 1} {
			for _, sends := range []bool{true, false} {
				if sends && (fab == "shm" || from == 0) {
					continue // a message that needs both ends to begin does not outlive its sender's wait
				}
				t.Run(fmt.Sprint(fab, " from ", from, " sends ", sends), func(t *testing.T) {
					leaks.Check(t)
					addrs := freeaddr.Loopback(t, 2)
					left := make(chan struct{})
					each(t, 2, func(r int) error {
						c, err := thunder.Init(t.Context(), thunder.Options{Join: thunder.Join{Rank: r, Size: 2, Addrs: addrs}, Transport: thunder.Transport{Fabric: fab}})
						if err != nil {
							return err
						}
						defer c.Close()
						if r == from {
							defer close(left)
							if sends {
								err = thunder.Send(t.Context(), c, []byte{7}, 1-r)
							}
							return errors.Join(err, c.Close())
						}
						<-left
						b := make([]byte, 1)
						if sends {
							if err := thunder.Recv(t.Context(), c, b, from); err != nil || b[0] != 7 {
								return fmt.Errorf("got %d, %v", b[0], err)
							}
						}
						err = thunder.Recv(t.Context(), c, b, from)
						if lost, ok := errors.AsType[*thunder.PeerLostError](err); !ok || lost.Rank != from || !lost.Left {
							return fmt.Errorf("got %v, want rank %d to have left", err, from)
						}
						return nil
					})
				})
			}
		}
	}
}
