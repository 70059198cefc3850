package tuning

import (
	"context"
	"math"
	"slices"
	"time"

	"thundercollective/internal/collective"
	"thundercollective/internal/reduce"
)

const (
	// quickly is how long measuring takes as a part of the first operation, well how long
	// it takes on request. Very slow links take longer, since a few messages are timed in
	// any case. On request the long messages are longer, so that they do not stay in a
	// cache.
	quickly      = 40 * time.Millisecond
	quicklyLarge = 1 << 20
	well         = 400 * time.Millisecond
	wellLarge    = 8 << 20

	// timedSegment is long enough for TCP to use all its streams.
	timedSegment = 512 << 10

	calibrateSmall = 8
	// How often each message is timed.
	calibrateLeast = 3
	calibrateMost  = 2000
)

// A Group is what measuring needs of a group of ranks. All of them take part.
type Group interface {
	Rank() int
	Size() int
	// Plan prepares an operation, and Run performs it.
	Plan(s collective.Spec, dt reduce.DType) (*collective.Plan, error)
	Run(ctx context.Context, p *collective.Plan, recv, send []byte) error
}

// Agree returns the model that all ranks of a group choose by: what the first of them
// knows from its profile or from another group, else what is measured, if that is
// wanted. It is nil if they choose by rules of thumb.
func (j *Job) Agree(ctx context.Context, g Group, hosts *collective.Hosts) (*Model, error) {
	if !j.profiled && !j.Calibrate {
		return nil, nil
	}
	var m Model
	if known := j.model.Load(); known != nil {
		m = *known
	}
	t := trial{g, hosts}
	err := t.spread(ctx, 0, &m)
	if err == nil && !m.Valid() && j.Calibrate {
		m, err = t.measure(ctx, quickly, quicklyLarge)
	}
	if err != nil || !m.Valid() {
		return nil, err
	}
	j.model.Store(&m)
	return &m, nil
}

// Measure measures what messages between ranks of the group cost, within a host and
// between hosts where there are both, and returns the same model on all ranks. It takes
// some 0.4 s.
func Measure(ctx context.Context, g Group, hosts *collective.Hosts) (Model, error) {
	return trial{g, hosts}.measure(ctx, well, wellLarge)
}

// A trial measures the messages of one group.
type trial struct {
	group Group
	hosts *collective.Hosts
}

// measure times messages between a few ranks and a reduction, in about the time given,
// and tells all ranks.
func (t trial) measure(ctx context.Context, budget time.Duration, large int) (Model, error) {
	first, peers := 0, []int{1} // a link between hosts, and one within a host
	if t.hosts.Mixed() {
		first, peers = t.samples()
	}
	var m Model
	for i, peer := range peers {
		w := timing{first: first, peer: peer, n: calibrateSmall, budget: budget / time.Duration(2*len(peers))}
		small, err := t.time(ctx, w)
		if err != nil {
			return m, err
		}
		w.n, w.exchange = large, true
		long, err := t.time(ctx, w)
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
	return m, t.spread(ctx, first, &m)
}

// samples returns a rank that shares its host with another, a rank on another host, and
// the one on its own host.
func (t trial) samples() (first int, peers []int) {
	for r := range t.group.Size() {
		near, far := -1, -1
		for p := range t.group.Size() {
			switch {
			case p == r:
			case t.hosts.Of(p) == t.hosts.Of(r):
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

// timing describes a message of n bytes between two ranks that is timed repeatedly.
type timing struct {
	first, peer int // first decides how often
	n           int
	exchange    bool // both send at once, as in most collectives; else there and back
	budget      time.Duration
}

// time returns the median time of a message in µs. Other ranks do nothing. A byte of the
// first rank's message tells whether another one follows.
func (t trial) time(ctx context.Context, w timing) (float64, error) {
	partner := w.first
	switch t.group.Rank() {
	case w.first:
		partner = w.peer
	case w.peer:
	default:
		return 0, nil
	}
	out, in := make([]byte, w.n), make([]byte, w.n)
	kinds := []collective.Kind{collective.Send, collective.Recv}
	switch {
	case w.exchange:
		kinds = []collective.Kind{collective.SendRecv}
	case t.group.Rank() == w.peer:
		kinds = []collective.Kind{collective.Recv, collective.Send}
	}
	var steps []*collective.Plan
	for _, k := range kinds {
		p, err := t.group.Plan(collective.Spec{
			Kind: k, Algo: collective.Direct, Rank: t.group.Rank(), Size: t.group.Size(), Root: partner, From: partner,
			Count: w.n, RecvCount: w.n, Separate: k != collective.Recv, Segment: min(w.n, timedSegment),
		}, reduce.U8)
		if err != nil {
			return 0, err
		}
		steps = append(steps, p)
	}
	var times []float64
	start := time.Now()
	for {
		round := time.Now()
		more := &in[0] // what the first rank decides
		if t.group.Rank() == w.first {
			more = &out[0]
			*more = 0
			if n := len(times) + 1; n < calibrateLeast || n < calibrateMost && round.Sub(start) < w.budget {
				*more = 1
			}
		}
		for _, p := range steps {
			if err := t.group.Run(ctx, p, in, out); err != nil {
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

// spread copies the model of one rank to all.
func (t trial) spread(ctx context.Context, from int, m *Model) error {
	costs := []float64{m.Alpha, m.Beta, m.Gamma, 0, 0, float64(m.Streams)}
	if m.Local != nil {
		costs[3], costs[4] = m.Local.Alpha, m.Local.Beta
	}
	plan, err := t.group.Plan(collective.Spec{
		Kind: collective.Broadcast, Algo: collective.Tree, Rank: t.group.Rank(), Size: t.group.Size(), Root: from, Count: len(costs),
	}, reduce.F64)
	if err != nil {
		return err
	}
	if err := t.group.Run(ctx, plan, reduce.Bytes(costs), nil); err != nil {
		return err
	}
	*m = Model{Alpha: costs[0], Beta: costs[1], Gamma: costs[2], Streams: int(costs[5])}
	if costs[3] > 0 {
		m.Local = &collective.LinkCost{Alpha: costs[3], Beta: costs[4]}
	}
	return nil
}

// reduceCost returns the time to add 1000 bytes of float32, in µs.
func reduceCost() float64 {
	const n = 256 << 10
	add, err := reduce.Lookup(reduce.F32, reduce.Sum)
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

// rounded rounds a cost to four places, and never to zero.
func rounded(v float64) float64 { return max(math.Round(v*1e4)/1e4, 1e-4) }
