package thunder

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"thundercollective/collective"
	"thundercollective/reduce"
)

const (
	// calibrateQuickly is what measuring takes when it is a part of the first
	// operation, and calibrateWell when it is asked for, on links that are not very
	// slow: a few messages are timed in any case.
	calibrateQuickly = 40 * time.Millisecond
	calibrateWell    = 400 * time.Millisecond

	// The messages that are timed, and how often.
	calibrateSmall = 8
	calibrateLarge = 512 << 10
	calibrateLeast = 3
	calibrateMost  = 2000
)

// Calibrate measures what messages between ranks of the group cost, within a host and
// between hosts where there are both, and returns the same model on all ranks. All
// ranks have to call it; it takes its turn like an operation, and some 0.4 s.
func (c *Comm) Calibrate(ctx context.Context) (Model, error) {
	if len(c.ranks) == 1 {
		return Model{}, errors.New("thunder: a rank that is alone has no messages to measure")
	}
	a, wait, err := c.admit(&Request{Kind: KindBarrier})
	if err != nil {
		return Model{}, err
	}
	if wait != nil {
		<-wait
	}
	defer c.turn.leave()
	if err := c.Err(); err != nil {
		return Model{}, err
	}
	var m Model
	err = c.aside(ctx, a, func(ctx context.Context, a call) (err error) {
		m, err = c.measure(ctx, a, calibrateWell)
		return err
	})
	return m, err
}

// agree makes c.model the same on all ranks: what the first of them knows from its
// profile or from another group, else what is measured, if that is wanted.
func (c *Comm) agree(ctx context.Context, a call) error {
	if !c.job.profiled && !c.job.calibrate {
		return nil
	}
	var m Model
	if known := c.job.model.Load(); known != nil {
		m = *known
	}
	err := c.spread(ctx, a, 0, &m)
	if err == nil && !m.Valid() && c.job.calibrate {
		m, err = c.measure(ctx, a, calibrateQuickly)
	}
	if err != nil || !m.Valid() {
		return err
	}
	c.model = &m
	c.job.model.Store(&m)
	return nil
}

// measure times messages between a few ranks and a reduction, in about the time given,
// and tells all ranks.
func (c *Comm) measure(ctx context.Context, a call, budget time.Duration) (Model, error) {
	first, peers := 0, []int{1} // a link between hosts, and one within a host
	if c.hosts.Mixed() {
		first, peers = c.samples()
	}
	var m Model
	for i, peer := range peers {
		var l collective.LinkCost
		small, err := c.pingPong(ctx, a, first, peer, calibrateSmall, budget/time.Duration(2*len(peers)))
		if err != nil {
			return m, err
		}
		large, err := c.pingPong(ctx, a, first, peer, calibrateLarge, budget/time.Duration(2*len(peers)))
		if err != nil {
			return m, err
		}
		l.Alpha = rounded(small)
		l.Beta = rounded((large - small) / (calibrateLarge - calibrateSmall) * 1000)
		if i == 0 {
			m.Alpha, m.Beta = l.Alpha, l.Beta
		} else {
			m.Local = &l
		}
	}
	m.Gamma = rounded(reduceCost())
	return m, c.spread(ctx, a, first, &m)
}

// samples returns a rank that shares its host, a rank elsewhere, and one on its host.
func (c *Comm) samples() (first int, peers []int) {
	for r := range c.ranks {
		near, far := -1, -1
		for p := range c.ranks {
			switch {
			case p == r:
			case c.hosts.Of(p) == c.hosts.Of(r):
				near = p
			default:
				far = p
			}
		}
		if near >= 0 {
			return r, []int{far, near}
		}
	}
	return 0, nil
}

// pingPong has first send n bytes to peer and back until the time is over, and returns
// the median time of one way in µs at the first. The other ranks do nothing. A byte of
// the message says whether another one follows.
func (c *Comm) pingPong(ctx context.Context, a call, first, peer, n int, budget time.Duration) (float64, error) {
	partner := first
	switch c.rank {
	case first:
		partner = peer
	case peer:
	default:
		return 1, nil
	}
	plan := func(k Kind) (*collective.Plan, error) {
		return c.planner.Plan(collective.Spec{
			Kind: k, Algo: Direct, Rank: c.rank, Size: len(c.ranks), Root: partner, Count: n, Segment: n,
		}, U8, 0)
	}
	send, err := plan(KindSend)
	if err != nil {
		return 0, err
	}
	recv, err := plan(KindRecv)
	if err != nil {
		return 0, err
	}
	steps := []*collective.Plan{send, recv}
	if c.rank == peer {
		steps = []*collective.Plan{recv, send}
	}
	tag, buf := a.tag(), make([]byte, n)
	var times []float64
	start := time.Now()
	for {
		round := time.Now()
		if c.rank == first {
			buf[0] = 0
			if n := len(times) + 1; n < calibrateLeast || n < calibrateMost && round.Sub(start) < budget {
				buf[0] = 1
			}
		}
		for _, p := range steps {
			if err := c.exec.Run(ctx, p, &tag, buf, nil); err != nil {
				return 0, err
			}
		}
		times = append(times, float64(time.Since(round))/2e3)
		if buf[0] == 0 {
			break
		}
	}
	times = times[len(times)/4:] // the first ones open the link and warm up
	slices.Sort(times)
	return times[len(times)/2], nil
}

// spread gives all ranks the model of one.
func (c *Comm) spread(ctx context.Context, a call, from int, m *Model) error {
	costs := []float64{m.Alpha, m.Beta, m.Gamma, 0, 0, float64(m.Streams)}
	if m.Local != nil {
		costs[3], costs[4] = m.Local.Alpha, m.Local.Beta
	}
	plan, err := c.planner.Plan(collective.Spec{
		Kind: KindBroadcast, Algo: Tree, Rank: c.rank, Size: len(c.ranks), Root: from, Count: len(costs),
	}, F64, 0)
	if err != nil {
		return err
	}
	tag := a.tag()
	if err := c.exec.Run(ctx, plan, &tag, reduce.Bytes(costs), nil); err != nil {
		return err
	}
	*m = Model{Alpha: costs[0], Beta: costs[1], Gamma: costs[2], Streams: int(costs[5])}
	if costs[3] > 0 {
		m.Local = &collective.LinkCost{Alpha: costs[3], Beta: costs[4]}
	}
	return nil
}

// reduceCost is what it takes to add 1000 bytes of float32, in µs.
func reduceCost() float64 {
	const n = 256 << 10
	add, err := reduce.Lookup(F32, Sum)
	if err != nil {
		return 0
	}
	a, b := make([]byte, n), make([]byte, n)
	best := time.Hour
	for range 20 {
		start := time.Now()
		add(a, a, b)
		best = min(best, time.Since(start))
	}
	return float64(best) / 1e3 / n * 1000
}

// rounded is a cost to four places, and never nothing.
func rounded(v float64) float64 { return max(math.Round(v*1e4)/1e4, 1e-4) }
