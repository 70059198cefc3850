package group

import (
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
	"thundercollective/internal/recorder"
	"thundercollective/internal/telemetry"
	"thundercollective/internal/ticks"
)

// How many operations the flight recorder holds: of the group of all ranks, of another
// group, and of the messages in each direction between two ranks that exchange any.
const (
	HistoryWorld = 4096
	HistoryGroup = 512
	historyPair  = 256
)

// Record returns the operations that the flight recorder holds. It makes a Group a
// telemetry.Source.
func (g *Group) Record(now ticks.Reading, wall time.Time) recorder.Group {
	describe := func(e *recorder.Entry, o call) recorder.Operation {
		if o.in {
			o.kind = collective.Recv
		}
		op := recorder.Operation{
			Seq: e.Seq, Call: o.String(), Kind: o.kind.String(), DType: o.dtype.String(), Bytes: o.bytes(),
			Algo: o.algo.String(), Begin: wall.Add(-now.Ago(e.Begin)), Took: g.cfg.Clock.Span(e.Took), State: e.State.String(),
		}
		if e.State == recorder.Running {
			op.Took = now.Ago(e.Begin)
		}
		return op
	}
	r := recorder.Group{ID: g.cfg.ID, Ranks: g.cfg.Ranks, Failure: telemetry.FailureOf(g.Err())}
	for _, e := range g.current.entries() {
		r.Operations = append(r.Operations, describe(&e, callOf(&e.Tag)))
	}
	if p := g.current.prelude(); p.active {
		e := recorder.Entry{Seq: p.call.seq, Begin: p.since, State: recorder.Running}
		r.Operations = append(r.Operations, describe(&e, p.call))
	}
	r.Pairs = g.pairs.record(describe)
	return r
}

// AddTraffic adds what crossed the group's links to sums, by rank of the job.
func (g *Group) AddTraffic(sums []fabric.Traffic) {
	g.links.addTraffic(sums)
	g.pairs.links.addTraffic(sums)
}
