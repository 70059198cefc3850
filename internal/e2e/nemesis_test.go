package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/simnet"
)

// seedVar replays one seed of the simulated faults.
const seedVar = "THUNDER_CHAOS_SEED"

// simTimeout bounds every operation of the simulation, and simSilence is what it
// takes to notice a rank that vanished.
const (
	simTimeout = 6 * time.Second
	simSilence = 2 * time.Second
)

// A simFault is something the nemesis does to a simulated network. It returns the
// ranks that may truly be blamed; nil if nothing may fail.
type simFault struct {
	name string
	do   func(n *simnet.Net, a, b int) (blame []int)
}

var simFaults = []simFault{
	{"kill", func(n *simnet.Net, a, _ int) []int { n.Kill(a); return []int{a} }},
	{"stop", func(n *simnet.Net, a, _ int) []int { n.Isolate(a); return []int{a} }},
	{"stop and go on", func(n *simnet.Net, a, _ int) []int {
		n.Isolate(a)
		time.AfterFunc(4*time.Second, func() { n.Rejoin(a) })
		return []int{a}
	}},
	{"stop for a moment", func(n *simnet.Net, a, _ int) []int {
		n.Isolate(a)
		time.AfterFunc(700*time.Millisecond, func() { n.Rejoin(a) })
		return nil
	}},
	{"cable", func(n *simnet.Net, a, b int) []int { n.Cut(a, b); n.Cut(b, a); return []int{a, b} }},
	{"cable down and up", func(n *simnet.Net, a, b int) []int {
		n.Cut(a, b)
		n.Cut(b, a)
		time.AfterFunc(900*time.Millisecond, func() { n.Heal(a, b); n.Heal(b, a) })
		return nil
	}},
	{"one way", func(n *simnet.Net, a, b int) []int { n.Cut(a, b); return []int{a, b} }},
	{"reset", func(n *simnet.Net, a, b int) []int { n.Reset(a, b); return []int{a, b} }},
	{"corrupt", func(n *simnet.Net, a, b int) []int { n.Corrupt(a, b); return []int{a, b} }},
	{"delay", func(n *simnet.Net, a, b int) []int { n.Delay(a, b, 40*time.Millisecond); return nil }},
	{"two die", func(n *simnet.Net, a, b int) []int { n.Kill(a); n.Kill(b); return []int{a, b} }},
	{"one dies after the other", func(n *simnet.Net, a, b int) []int {
		n.Kill(a)
		time.AfterFunc(130*time.Millisecond, func() { n.Kill(b) }) // while the others shrink
		return []int{a, b}
	}},
}

// A simRun is one seeded story.
type simRun struct {
	t     *testing.T
	net   *simnet.Net
	comms []*thunder.Comm
	fault simFault
	a, b  int
	blame []int
	count int // elements per operation; 0 is idle
	end   chan struct{}
}

// TestSimulatedFaults lets a thousand faults loose on simulated jobs, each at a
// moment of its own, and holds every rank's experience against what was promised.
func TestSimulatedFaults(t *testing.T) {
	from, to := uint64(0), uint64(1000)
	if testing.Short() {
		to = 100
	}
	if s := os.Getenv(seedVar); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		from, to = n, n+1
	}
	if n, err := strconv.ParseUint(os.Getenv("THUNDER_SOAK"), 10, 64); err == nil {
		to = n
	}
	for seed := from; seed < to; seed++ {
		synctest.Test(t, func(t *testing.T) { simulate(t, seed) })
		if t.Failed() {
			t.Fatalf("seed %d failed; %s=%d replays it", seed, seedVar, seed)
		}
	}
}

func simulate(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	n := 2 + rng.IntN(5)
	net := simnet.New(n)
	comms, err := thunder.Over(net.Fabrics(), thunder.Options{Timeout: simTimeout, HeartbeatTimeout: simSilence})
	if err != nil {
		t.Fatal(err)
	}
	s := &simRun{
		t: t, net: net, comms: comms, fault: simFaults[rng.IntN(len(simFaults))],
		a: rng.IntN(n), count: []int{0, 1, 3000}[rng.IntN(3)], end: make(chan struct{}),
	}
	s.b = (s.a + 1 + rng.IntN(n-1)) % n
	time.AfterFunc(8*time.Second, func() { close(s.end) })
	wait := time.Duration(rng.IntN(3000)) * time.Millisecond
	errs := make([]error, n)
	var wg sync.WaitGroup
	wg.Go(func() {
		time.Sleep(wait)
		s.blame = s.fault.do(net, s.a, s.b)
	})
	for r := range n {
		wg.Go(func() { errs[r] = s.program(r) })
	}
	wg.Wait()
	story := fmt.Sprintf("seed %d: %s of ranks %d and %d of %d after %v, %d elements", seed, s.fault.name, s.a, s.b, n, wait, s.count)
	s.judge(story, errs)
	if !t.Failed() && s.blame != nil {
		s.shrink(story, errs)
	}
	for _, c := range comms {
		wg.Go(func() { c.Close() })
	}
	wg.Wait()
}

// program is what each rank does: operations, or nothing, until something breaks or
// the story is over. Every result is checked, and so is how long a call took.
func (s *simRun) program(r int) error {
	c := s.comms[r]
	buf := make([]int64, s.count+1) // the last says whether somebody wants to stop
	for round := int64(1); ; round++ {
		ended := false
		select {
		case <-s.end:
			ended = true
		default:
		}
		if s.count == 0 { // idle ranks learn of it all the same
			if err := c.Err(); err != nil || ended {
				return err
			}
			time.Sleep(200 * time.Millisecond)
			continue
		}
		for i := range buf {
			buf[i] = round + int64(r)
		}
		buf[s.count] = 0
		if ended {
			buf[s.count] = 1
		}
		begun := time.Now()
		err := thunder.AllReduce(context.Background(), c, buf, thunder.Sum)
		if took := time.Since(begun); took > simTimeout+time.Second {
			s.t.Errorf("rank %d: a call took %v", r, took)
		}
		if err != nil {
			return err
		}
		n := int64(c.Size())
		for _, v := range buf[:s.count] {
			if v != n*round+n*(n-1)/2 {
				return fmt.Errorf("wrong result %d in round %d", v, round)
			}
		}
		if buf[s.count] > 0 {
			return nil
		}
		time.Sleep(40 * time.Millisecond)
	}
}

// dead says whether the fault killed a rank.
func (s *simRun) dead(r int) bool {
	switch s.fault.name {
	case "kill":
		return r == s.a
	case "two die", "one dies after the other":
		return r == s.a || r == s.b
	}
	return false
}

// judge checks that survivors got typed errors that name the same, true culprit.
func (s *simRun) judge(story string, errs []error) {
	if s.blame == nil {
		for r, err := range errs {
			if err != nil {
				s.t.Errorf("%s: rank %d failed for nothing: %v", story, r, err)
			}
		}
		return
	}
	if s.fault.name == "corrupt" && s.count == 0 && errs[s.b] == nil {
		return // an idle job without a message to corrupt but heartbeats, whose tag is checked as well
	}
	named := map[int]bool{}
	for r, err := range errs {
		if s.dead(r) {
			continue
		}
		lost, isLost := errors.AsType[*thunder.PeerLostError](err)
		mismatch, isMismatch := errors.AsType[*thunder.MismatchError](err)
		switch {
		case isLost && slices.Contains(s.blame, lost.Rank):
			named[lost.Rank] = true
		case isMismatch && s.fault.name == "corrupt" && slices.Contains(s.blame, mismatch.RankA) && slices.Contains(s.blame, mismatch.RankB):
		case isLost && len(errs) == 2: // each can only name the other
		default:
			s.t.Errorf("%s: rank %d got %v, want one of %v blamed", story, r, err, s.blame)
		}
	}
	if len(named) > 1 && len(errs) > 2 && s.fault.name != "one dies after the other" {
		s.t.Errorf("%s: ranks blame different ranks: %v", story, errs)
	}
}

// shrink has all survivors shrink until a group works, and checks that there is
// one, the same for all, if a quorum is left.
func (s *simRun) shrink(story string, errs []error) {
	n := len(errs)
	sums := make([]int64, n)
	results := make([]error, n)
	var wg sync.WaitGroup
	for r := range n {
		if s.dead(r) {
			continue
		}
		wg.Go(func() {
			c := s.comms[r]
			for range 4 {
				if c, results[r] = c.Shrink(context.Background()); results[r] != nil {
					return
				}
				one := []int64{1 << r}
				if results[r] = thunder.AllReduce(context.Background(), c, one, thunder.Sum); results[r] == nil {
					sums[r] = one[0]
					return
				}
			}
		})
	}
	wg.Wait()
	working := 0
	var sum int64
	for r := range n {
		if s.dead(r) {
			continue
		}
		_, expelled := errors.AsType[*thunder.PeerLostError](results[r])
		_, hopeless := errors.AsType[*thunder.QuorumError](results[r])
		_, late := errors.AsType[*thunder.TimeoutError](results[r])
		switch {
		case results[r] == nil:
			working++
			if sum != 0 && sum != sums[r] {
				s.t.Errorf("%s: survivors are in different groups: %b and %b", story, sum, sums[r])
			}
			sum = sums[r]
		case expelled, hopeless, late:
		default:
			s.t.Errorf("%s: rank %d shrinks: %v", story, r, results[r])
		}
	}
	// Cut cables leave ranks that may or may not have been expelled; where ranks
	// are simply dead, all others have to go on.
	gone := 0
	for r := range n {
		if s.dead(r) {
			gone++
		}
	}
	if left := n - gone; gone > 0 && (2*left > n || 2*left == n && !s.dead(0)) && working != left {
		s.t.Errorf("%s: %d of %d survivors are in a working group: %v", story, working, left, results)
	}
}
