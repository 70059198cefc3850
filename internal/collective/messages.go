package collective

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"thundercollective/fabric"
)

// A runner carries out plans by messages over the links of a group, one at a time.
type runner struct {
	rank, size int
	links      Links
	onFailure  func(error) // see NewExecutor; may be nil
	peers      []peerLink  // by rank
	lanes      []*laneRunner
	scratch    []byte
	workers    sync.WaitGroup // goroutines of lanes
	busyLanes  sync.WaitGroup

	mu     sync.Mutex // held during a run and close
	closed bool

	execution
}

// An execution is what the goroutines of a runner share while a plan runs. It is
// written before any of them starts to work on it.
type execution struct {
	ctx         context.Context
	plan        *Plan
	tag         fabric.Tag
	main, input []byte

	failed atomic.Bool
	failMu sync.Mutex
	err    error // the first
}

func (r *runner) init(rank, size int, links Links, failed func(error)) {
	r.rank, r.size, r.links, r.onFailure, r.peers = rank, size, links, failed, make([]peerLink, size)
	r.lanes = append(r.lanes, newLaneRunner(r, 0))
}

// run performs the plan of this rank.
func (r *runner) run(ctx context.Context, plan *Plan, tag *fabric.Tag, main, input []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.admit(ctx, plan, main, input); err != nil {
		return err
	}
	return r.execute(ctx, plan, tag, main, input)
}

// admit returns why a run cannot begin.
func (r *runner) admit(ctx context.Context, plan *Plan, main, input []byte) error {
	switch {
	case r.closed:
		return ErrExecutorClosed
	case r.failed.Load():
		return fmt.Errorf("collective: an earlier run failed: %w", r.err)
	case plan.spec.Rank != r.rank || plan.spec.Size != r.size:
		return fmt.Errorf("collective: plan for rank %d of %d run by rank %d of %d", plan.spec.Rank, plan.spec.Size, r.rank, r.size)
	case len(main) < plan.main || len(input) < plan.input:
		return plan.tooShort(main, input)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return nil
}

// set sets what the run is about.
func (e *execution) set(ctx context.Context, plan *Plan, tag *fabric.Tag, main, input []byte) {
	e.ctx, e.plan, e.tag, e.main, e.input = ctx, plan, *tag, main, input
}

// execute runs a plan that was admitted.
func (r *runner) execute(ctx context.Context, plan *Plan, tag *fabric.Tag, main, input []byte) error {
	if len(r.scratch) < plan.scratch {
		r.scratch = make([]byte, plan.scratch)
	}
	r.set(ctx, plan, tag, main, input)
	open := true
	for _, p := range plan.links {
		l := &r.peers[p]
		l.begin()
		open = open && l.link != nil
	}
	if !open {
		r.openAll()
	}
	if !r.failed.Load() {
		r.perform()
	}
	for _, p := range plan.peers {
		r.end(p)
	}
	r.release()
	return r.err
}

// release lets go of what belongs to a run.
func (r *runner) release() { r.ctx, r.plan, r.main, r.input = nil, nil, nil, nil }

// perform runs the lanes: the first here, the others on goroutines of their own.
func (r *runner) perform() {
	lanes := r.plan.lanes
	for i := 1; i < len(lanes); i++ {
		if i == len(r.lanes) {
			r.lanes = append(r.lanes, newLaneRunner(r, i))
			r.lanes[i].start()
		}
		r.busyLanes.Add(1)
		r.lanes[i].work <- struct{}{}
	}
	if len(lanes) > 0 {
		r.lanes[0].run()
	}
	r.busyLanes.Wait()
}

// close waits for a run under way and ends the goroutines. The links stay open.
func (r *runner) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.closed = true
	for _, l := range r.lanes[1:] {
		close(l.work)
	}
	r.workers.Wait()
}

// fail ends the run with its first error. The caller holds no lock.
func (r *runner) fail(err *StepError) {
	r.failMu.Lock()
	first := r.err == nil
	if first {
		r.err = err
		r.failed.Store(true)
	}
	r.failMu.Unlock()
	if !first {
		return
	}
	if r.onFailure != nil {
		r.onFailure(err)
		return
	}
	r.closeLinks()
}

// stepError returns the error of action i of a lane.
func (r *runner) stepError(lane, i int, err error) *StepError {
	a := &r.plan.lanes[lane].actions[i]
	return &StepError{
		Kind: r.plan.spec.Kind, Algo: r.plan.spec.Algo, Step: a.Step, Peer: a.Peer,
		Lane: lane, Action: i, Err: err,
	}
}

// peerError returns the error of something that is no action of the plan.
func (r *runner) peerError(s Step, peer int, err error) *StepError {
	return r.plan.peerError(s, peer, err)
}

// bytes returns the memory of a slice.
func (r *runner) bytes(s Slice) []byte {
	buf := r.main
	switch s.Buf {
	case Input:
		buf = r.input
	case Scratch:
		buf = r.scratch
	}
	from, to := s.Off*r.plan.elem, s.End()*r.plan.elem
	return buf[from:to:to]
}
