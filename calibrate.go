package thunder

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"thundercollective/internal/collective"
	"thundercollective/internal/provider/tcp"
	"thundercollective/internal/reduce"
)

const (
	// quickly is what measuring takes when it is a part of the first operation, and
	// well when it is asked for, on links that are not very slow: a few messages are
	// timed in any case. The long ones are longer in the second case, so that they do
	// not stay in a cache.
	quickly      = 40 * time.Millisecond
	quicklyLarge = 1 << 20
	well         = 400 * time.Millisecond
	wellLarge    = 8 << 20

	calibrateSmall = 8
	// How often each message is timed.
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
	var a call
	wait, err := c.admit(&Request{Kind: KindBarrier}, &a)
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
		m, err = c.measure(ctx, a, well, wellLarge)
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
		m, err = c.measure(ctx, a, quickly, quicklyLarge)
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
func (c *Comm) measure(ctx context.Context, a call, budget time.Duration, large int) (Model, error) {
	first, peers := 0, []int{1} // a link between hosts, and one within a host
	if c.hosts.Mixed() {
		first, peers = c.samples()
	}
	var m Model
	for i, peer := range peers {
		w := timing{first: first, peer: peer, n: calibrateSmall, budget: budget / time.Duration(2*len(peers))}
		small, err := c.time(ctx, a, w)
		if err != nil {
			return m, err
		}
		w.n, w.exchange = large, true
		long, err := c.time(ctx, a, w)
		if err != nil {
			return m, err
		}
		l := collective.LinkCost{Alpha: rounded(small), Beta: rounded((long - small) / float64(w.n-calibrateSmall) * 1000)}
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

// timing is a message of n bytes between two ranks, timed until the time is over.
type timing struct {
	first, peer int // the first one decides
	n           int
	exchange    bool // both send at once, as in most collectives; else there and back
	budget      time.Duration
}

// time returns the median time of a message in µs. Ranks that are neither of the two
// do nothing. A byte of the first rank's message says whether another one follows.
func (c *Comm) time(ctx context.Context, a call, w timing) (float64, error) {
	partner := w.first
	switch c.rank {
	case w.first:
		partner = w.peer
	case w.peer:
	default:
		return 0, nil
	}
	out, in := make([]byte, w.n), make([]byte, w.n)
	kinds := []Kind{KindSend, KindRecv}
	switch {
	case w.exchange:
		kinds = []Kind{KindSendRecv}
	case c.rank == w.peer:
		kinds = []Kind{KindRecv, KindSend}
	}
	var steps []*collective.Plan
	for _, k := range kinds {
		p, err := c.planner.Plan(collective.Spec{
			Kind: k, Algo: Direct, Rank: c.rank, Size: len(c.ranks), Root: partner, From: partner,
			Count: w.n, RecvCount: w.n, Separate: k != KindRecv, Segment: min(w.n, tcp.StripeMin),
		}, U8, 0)
		if err != nil {
			return 0, err
		}
		steps = append(steps, p)
	}
	tag := a.tag()
	var times []float64
	start := time.Now()
	for {
		round := time.Now()
		more := &in[0] // as the first one says
		if c.rank == w.first {
			more = &out[0]
			*more = 0
			if n := len(times) + 1; n < calibrateLeast || n < calibrateMost && round.Sub(start) < w.budget {
				*more = 1
			}
		}
		for _, p := range steps {
			if err := c.exec.Run(ctx, p, &tag, in, out); err != nil {
				return 0, err
			}
		}
		times = append(times, float64(time.Since(round))/1e3/float64(len(steps)))
		if *more == 0 {
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
