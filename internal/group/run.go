package group

import (
	"context"
	"errors"
	"fmt"

	"thundercollective/internal/collective"
	"thundercollective/internal/tuning"
)

// Do performs one operation and returns when it is done.
func (g *Group) Do(ctx context.Context, r *Request) error {
	if r.Kind.PointToPoint() {
		return g.pairs.do(ctx, r)
	}
	var a call
	wait, err := g.admit(r, &a)
	if err != nil {
		return err
	}
	return g.run(ctx, r, &a, wait)
}

// Start begins an operation and returns at once. It calls finish when the operation is
// done; the buffers must be left alone until then.
func (g *Group) Start(ctx context.Context, r *Request, finish func(error)) {
	r = r.clone()
	if r.Kind.PointToPoint() {
		g.pairs.start(ctx, r, finish)
		return
	}
	var a call
	wait, err := g.admit(r, &a)
	if err != nil {
		finish(err)
		return
	}
	go func() { finish(g.run(ctx, r, &a, wait)) }()
}

// admit validates a collective and gives it its place among the others. It fills in a,
// which is handed on by its address: a copy would have to wait for what was just written.
func (g *Group) admit(r *Request, a *call) (wait <-chan struct{}, err error) {
	count, err := r.check(g.cfg.Rank, len(g.cfg.Ranks))
	if err != nil {
		return nil, fmt.Errorf("thunder: %w", err)
	}
	if g.failed.Load() {
		return nil, g.Err()
	}
	a.generation, a.group = g.cfg.Generation, g.cfg.ID
	a.kind, a.dtype, a.algo = r.Kind, r.DType, r.Algo
	if r.Kind.Reduces() {
		a.op = r.Op
	}
	if r.Kind.Rooted() {
		a.root = uint32(r.Root)
	}
	if !r.Varying {
		a.count = uint64(count) // else every message's own length is compared
	}
	a.seq, wait = g.turn.enter()
	return wait, nil
}

// run performs an admitted collective when its turn has come.
func (g *Group) run(ctx context.Context, r *Request, a *call, wait <-chan struct{}) error {
	if wait != nil {
		<-wait // every operation before this one ends: it has a deadline
	}
	defer g.turn.leave()
	if g.failed.Load() {
		return g.Err()
	}
	if g.census.due(r) {
		if err := g.census.first(ctx, *a); err != nil {
			return err
		}
	}
	plan, err := g.plan(r, int(a.count))
	if err != nil || plan == nil {
		return err
	}
	a.algo = plan.Algo()
	a.encode(&g.tag)
	var op collective.Operation
	op.Plan, op.Tag, op.Main, op.Input = plan, &g.tag, r.Recv, r.Send
	// What is short goes out before anything else, which is then done while it is under way.
	started := false
	if ctx.Err() == nil {
		started, err = g.exec.Begin(g.ctx, &op)
	}
	now := g.cfg.Clock.Now()
	g.current.begin(g, ctx, a.seq, &g.tag, now)
	switch {
	case err != nil:
	case started:
		err = g.exec.Finish(g.ctx, &op)
	case ctx.Err() != nil:
		err = g.giveUp(ctx, *a)
	default:
		g.pages.Used(r.Recv)
		g.pages.Used(r.Send)
		err = g.exec.Finish(g.ctx, &op)
	}
	took := g.cfg.Clock.Now() - now
	g.current.end(a.seq, took, err)
	g.meter.Note(a.kind, a.bytes(), g.cfg.Clock.Span(took), err)
	if err != nil {
		return g.explain(err, *a)
	}
	return nil
}

// Calibrate measures what messages between ranks of the group cost, and returns the same
// model on all ranks. All ranks have to call it; it takes its turn like an operation.
func (g *Group) Calibrate(ctx context.Context) (tuning.Model, error) {
	var m tuning.Model
	if len(g.cfg.Ranks) == 1 {
		return m, errors.New("thunder: a rank that is alone has no messages to measure")
	}
	var a call
	wait, err := g.admit(&Request{Kind: collective.Barrier}, &a)
	if err != nil {
		return m, err
	}
	if wait != nil {
		<-wait
	}
	defer g.turn.leave()
	if err := g.Err(); err != nil {
		return m, err
	}
	err = g.aside(ctx, a, func(ctx context.Context, a call) (err error) {
		m, err = tuning.Measure(ctx, lab{g, a.tag()}, g.cfg.Hosts)
		return err
	})
	return m, err
}

// Model returns what the group chooses by; nil for rules of thumb.
func (g *Group) Model() *tuning.Model {
	g.turn.enterAndWait()
	defer g.turn.leave()
	return g.chooser.Model
}
