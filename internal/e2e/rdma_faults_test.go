package e2e_test

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
	"thundercollective/internal/leaks"
	"thundercollective/internal/provider/rdma/rdmatest"
)

// TestRDMAFaults kills ranks on emulated devices of both kinds, or cuts off their devices
// alone, in the middle of small and of large operations. All survivors name the dead
// one and go on without it. Where only the devices are cut off, all name the same end of
// a path that broke. Nothing is left on any device.
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
	leaks.Check(t)
	told := uint64(0)
	sideBySide(t, from, func() bool { told++; return told <= stories }, rdmaStory)
}

func rdmaStory(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	const n = 4
	kinds := []func() rdmatest.Options{rdmatest.RoCE, rdmatest.Thunderbolt}
	count := []int{1, 3000, 300_000}[rng.IntN(3)]
	victim := rng.IntN(n)
	kill := rng.IntN(2) == 0
	j := overRDMA(t, n, kinds[seed%2](), thunder.Options{HeartbeatTimeout: chaosSilence, Timeout: 20 * time.Second})
	story := fmt.Sprintf("seed %d: kind %d, %d elements, rank %d, killed %v", seed, seed%2, count, victim, kill)
	begun := make(chan struct{})
	go func() {
		<-begun
		time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
		j.net.Host(victim).Kill()
		if kill {
			j.boots[victim].Close()
		}
	}()
	named := make([]int, n)
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
			if ok {
				named[r] = lost.Rank
			}
			switch {
			case kill && r == victim: // whatever it thinks, it is out
				return nil
			case !ok || kill && lost.Rank != victim:
				return fmt.Errorf("%s: got %v", story, err)
			case !kill:
				return nil
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
	for r := range named {
		if !kill && named[r] != named[0] {
			t.Errorf("%s: ranks blame different ranks: %v", story, named)
		}
	}
}
