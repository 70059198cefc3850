package thunder_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/fabric/rdma/rdmatest"
)

// TestRDMAFaults kills ranks on emulated devices of both kinds, in the middle of small and of large operations. All survivors name
// the dead one and go on without it; nothing is left on any device.
func TestRDMAFaults(t *testing.T) {
	stories := uint64(12)
	if testing.Short() {
		stories = 4
	}
	if n, err := strconv.ParseUint(os.Getenv("THUNDER_SOAK"), 10, 64); err == nil {
		stories = max(n/10, stories)
	}
	from := uint64(0)
	if s := os.Getenv(seedVar); s != "" {
		from, _ = strconv.ParseUint(s, 10, 64)
		stories = 1
	}
	checkGoroutines(t)
	for seed := from; seed < from+stories; seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { rdmaStory(t, seed) })
		if t.Failed() {
			t.Fatalf("%s=%d replays it", seedVar, seed)
		}
	}
}

func rdmaStory(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	const n = 4
	kinds := []func() rdmatest.Options{rdmatest.RoCE, rdmatest.Thunderbolt}
	count := []int{1, 3000, 300_000}[rng.IntN(3)]
	victim := rng.IntN(n)
	j := overRDMA(t, n, kinds[seed%2](), thunder.Options{Silence: chaosSilence, Timeout: 20 * time.Second})
	story := fmt.Sprintf("seed %d: kind %d, %d elements, rank %d killed", seed, seed%2, count, victim)
	begun := make(chan struct{})
	go func() {
		<-begun
		time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
		j.net.Host(victim).Kill()
		j.boots[victim].Close()
	}()
	each(t, n, func(r int) error {
		c := j.comms[r]
		buf := make([]int64, count)
		for round := int64(1); ; round++ {
			for i := range buf {
				buf[i] = round
			}
			err := thunder.AllReduce(context.Background(), c, buf, thunder.Sum)
			if round == 1 && r == 0 {
				close(begun)
			}
			if err == nil {
				if buf[0] != n*round || buf[count-1] != n*round {
					return fmt.Errorf("%s: wrong result %d in round %d", story, buf[0], round)
				}
				continue
			}
			lost, ok := errors.AsType[*thunder.PeerLostError](err)
			if r == victim {
				return nil // whatever it thinks, it is out
			}
			if !ok || lost.Rank != victim {
				return fmt.Errorf("%s: got %v", story, err)
			}
			break
		}
		g, err := c.Shrink(context.Background())
		if err != nil {
			return fmt.Errorf("%s: shrink: %w", story, err)
		}
		one := []int64{1}
		if err := thunder.AllReduce(context.Background(), g, one, thunder.Sum); err != nil || one[0] != n-1 {
			return fmt.Errorf("%s: after shrinking: %d, %w", story, one[0], err)
		}
		return nil
	})
}
