package train

import (
	"sync"
	"testing"
	"time"

	"thundercollective"
)

// everywhere runs f as each of n ranks of one process and fails the test with
// their errors.
func everywhere(t *testing.T, n int, f func(c *thunder.Comm) error) {
	t.Helper()
	comms, err := thunder.Local(n, thunder.Options{Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for r, c := range comms {
		wg.Go(func() {
			if err := f(c); err != nil {
				t.Errorf("rank %d of %d: %v", r, n, err)
				c.Abort("test failed")
			}
		})
	}
	wg.Wait()
	for _, c := range comms {
		c.Close()
	}
}

// value returns an element of a rank's gradient: a small integer, so that float32 sums are
// exact in any order.
func value(rank, step, tensor, i int) float32 {
	return float32((rank*31+step*17+tensor*7+i*3)%97 - 48)
}
