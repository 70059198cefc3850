package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/simnet"
)

// TestComesBack has a rank vanish and come back after it was accused, before the verdict:
// nobody is lost, and operations go on.
func TestComesBack(t *testing.T) {
	// The last heartbeats came at most 250 ms before the rank vanishes: it is accused after
	// 1.25 s to 1.5 s, and would be convicted 250 ms later.
	synctest.Test(t, func(t *testing.T) {
		if errs := comesBack(t, 4, time.Second+time.Millisecond, 1570*time.Millisecond); errors.Join(errs...) != nil {
			t.Error(errors.Join(errs...))
		}
	})
}

// TestComesBackSometime has a rank vanish for about the time after which it is convicted:
// all ranks blame it, or nobody does.
func TestComesBackSometime(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 15
	}
	convicted := 0
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 4))
		n, at, d := 3+rng.IntN(4), time.Second+time.Duration(rng.IntN(250))*time.Millisecond, 1200*time.Millisecond+time.Duration(rng.IntN(800))*time.Millisecond
		synctest.Test(t, func(t *testing.T) {
			errs := comesBack(t, n, at, d)
			lost := 0
			for r, err := range errs {
				if e, ok := errors.AsType[*thunder.PeerLostError](err); ok && e.Rank == 1 {
					lost++
				} else if err != nil {
					t.Errorf("rank %d: %v", r, err)
				}
			}
			if lost > 0 && lost < n {
				t.Errorf("only %d of %d ranks blame rank 1: %v", lost, n, errs)
			}
			if lost > 0 {
				convicted++
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d: rank 1 of %d was away for %v after %v", seed, n, d, at)
		}
	}
	t.Logf("convicted %d times of %d", convicted, seeds)
}

// comesBack runs a job of n ranks of which rank 1 is away for a while. It returns how each
// rank ended, after some time.
func comesBack(t *testing.T, n int, at, d time.Duration) []error {
	net := simnet.New(n)
	comms, err := thunder.Over(net.Fabrics(), thunder.Options{Timeout: time.Minute, HeartbeatTimeout: simSilence})
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(at, func() { net.Isolate(1) })
	time.AfterFunc(at+d, func() { net.Rejoin(1) })
	errs := make([]error, n)
	var wg sync.WaitGroup
	for r, c := range comms {
		wg.Go(func() {
			for begun := time.Now(); time.Since(begun) < 8*time.Second && errs[r] == nil; time.Sleep(100 * time.Millisecond) {
				errs[r] = c.Err()
			}
			one := []int64{1}
			if errs[r] == nil {
				errs[r] = thunder.AllReduce(context.Background(), c, one, thunder.Sum)
			}
			if errs[r] == nil && one[0] != int64(n) {
				errs[r] = fmt.Errorf("wrong result %d", one[0])
			}
		})
	}
	wg.Wait()
	for _, c := range comms {
		wg.Go(func() { c.Close() })
	}
	wg.Wait()
	return errs
}
