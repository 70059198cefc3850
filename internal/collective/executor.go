package collective

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"thundercollective/fabric"
)

// Peers opens the links of a group. Calls may come from several goroutines at
// once, also for the same peer, which then get the same link.
type Peers interface {
	Link(ctx context.Context, peer int) (fabric.Link, error)
}

// A Failer is a Peers that is told of the first error of a run as soon as it
// happens, while other calls of the run may still be blocked. Failed has to see to
// it that they end: by cancelling the context of the run or closing the links. It
// may take its time, for instance to find out who is to blame. It is called from
// any goroutine, once.
//
// Where Peers is no Failer, the executor closes the links.
type Failer interface {
	Failed(err error)
}

// ErrExecutorClosed is returned by Run after Close.
var ErrExecutorClosed = errors.New("collective: executor is closed")

// An Executor runs plans over the links of one group, one at a time.
type Executor struct {
	rank, size int
	peers      Peers
	boxes      []*outbox // by peer; nil for this rank
	lanes      []*laneRunner
	scratch    []byte
	workers    sync.WaitGroup // goroutines of outboxes and lanes
	busyLanes  sync.WaitGroup

	commons // see RunCommons

	mu     sync.Mutex // held during Run and Close
	closed bool

	execution
}

// An execution is what the goroutines of an executor share while a plan runs. It is
// written before any of them is told to work.
type execution struct {
	ctx         context.Context
	plan        *Plan
	tag         fabric.Tag
	main, input []byte

	// uniform: every link of the run is open and a fabric.Backlog of the same Mover.
	// Only then may a lane leave what it has posted to the links: they move it on
	// while it waits in one of them, but not while it waits in a link of another kind.
	uniform atomic.Bool

	failed atomic.Bool
	failMu sync.Mutex
	err    error // the first

	// opening ends early when the run fails; made when a link is opened.
	opening     context.Context
	stopOpening context.CancelCauseFunc
}

// NewExecutor returns an executor for one rank of a group of size ranks. Links
// are opened when a plan first needs them.
func NewExecutor(rank, size int, peers Peers) *Executor {
	x := &Executor{rank: rank, size: size, peers: peers, boxes: make([]*outbox, size)}
	for p := range x.boxes {
		if p != rank {
			x.boxes[p] = newOutbox(x, p)
		}
	}
	x.lanes = append(x.lanes, newLaneRunner(x, 0))
	return x
}

// Run performs the plan of this rank. main and input are the buffers of the Spec,
// at least as long as Plan.Buffers says; every message carries tag. When Run
// returns, nothing touches the buffers any more.
//
// The first error ends the run and the executor: see StepError and Failer. What
// has arrived in main by then is undefined. When ctx ends, the error wraps its
// cause.
func (x *Executor) Run(ctx context.Context, plan *Plan, tag *fabric.Tag, main, input []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.admit(ctx, plan, main, input); err != nil {
		return err
	}
	return x.execute(ctx, plan, tag, main, input)
}

// admit says why a run cannot begin.
func (x *Executor) admit(ctx context.Context, plan *Plan, main, input []byte) error {
	switch {
	case x.closed:
		return ErrExecutorClosed
	case x.failed.Load():
		return fmt.Errorf("collective: an earlier run failed: %w", x.err)
	case plan.spec.Rank != x.rank || plan.spec.Size != x.size:
		return fmt.Errorf("collective: plan for rank %d of %d run by rank %d of %d", plan.spec.Rank, plan.spec.Size, x.rank, x.size)
	case len(main) < plan.main || len(input) < plan.input:
		return plan.tooShort(main, input)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return nil
}

// execute runs a plan that was admitted.
func (x *Executor) execute(ctx context.Context, plan *Plan, tag *fabric.Tag, main, input []byte) error {
	if len(x.scratch) < plan.scratch {
		x.scratch = make([]byte, plan.scratch)
	}
	x.ctx, x.plan, x.tag, x.main, x.input = ctx, plan, *tag, main, input
	x.uniform.Store(x.allBacklogs(plan))
	for _, p := range plan.peers {
		x.boxes[p].begin()
	}
	x.perform()
	for _, p := range plan.peers {
		x.boxes[p].end()
	}
	x.release()
	return x.err
}

// allBacklogs says whether all links of a plan are open and move each other's messages
// on.
func (x *Executor) allBacklogs(plan *Plan) bool {
	var mover any
	for i, p := range plan.links {
		path := x.boxes[p].path.Load()
		if path == nil || path.backlog == nil || i > 0 && path.mover != mover {
			return false
		}
		mover = path.mover
	}
	return true
}

// release lets go of what belongs to a run.
func (x *Executor) release() {
	x.ctx, x.plan, x.main, x.input = nil, nil, nil, nil
	clear(x.mapped)
	x.source, x.terms, x.own = nil, nil, own{}
	if x.stopOpening != nil {
		x.stopOpening(nil)
		x.opening, x.stopOpening = nil, nil
	}
}

// perform runs the lanes: the first here, the others on goroutines of their own.
func (x *Executor) perform() {
	lanes := x.plan.lanes
	for i := 1; i < len(lanes); i++ {
		if i == len(x.lanes) {
			x.lanes = append(x.lanes, newLaneRunner(x, i))
			x.lanes[i].start()
		}
		x.busyLanes.Add(1)
		x.lanes[i].work <- struct{}{}
	}
	if len(lanes) > 0 {
		x.lanes[0].run()
	}
	x.busyLanes.Wait()
}

// Close waits for a run under way and ends the executor's goroutines. The links
// stay open.
func (x *Executor) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return
	}
	x.closed = true
	for _, b := range x.boxes {
		if b != nil {
			b.stop()
		}
	}
	for _, l := range x.lanes[1:] {
		close(l.work)
	}
	x.workers.Wait()
}

// fail ends the run with its first error. The caller holds no lock.
func (x *Executor) fail(err *StepError) {
	x.failMu.Lock()
	first := x.err == nil
	if first {
		x.err = err
		x.failed.Store(true)
		if x.stopOpening != nil {
			x.stopOpening(err)
		}
	}
	x.failMu.Unlock()
	if !first {
		return
	}
	for _, b := range x.boxes {
		if b != nil {
			b.wake()
		}
	}
	if f, ok := x.peers.(Failer); ok {
		f.Failed(err)
		return
	}
	for _, b := range x.boxes {
		if b != nil {
			b.closeLink()
		}
	}
}

// stepError says that action i of a lane failed.
func (x *Executor) stepError(lane, i int, err error) *StepError {
	a := &x.plan.lanes[lane].actions[i]
	return &StepError{
		Kind: x.plan.spec.Kind, Algo: x.plan.spec.Algo, Step: a.Step, Peer: a.Peer,
		Lane: lane, Action: i, Err: err,
	}
}

// open opens a link. It gives up when the run fails.
func (x *Executor) open(peer int) (fabric.Link, error) {
	x.failMu.Lock()
	if x.err != nil {
		x.failMu.Unlock()
		return nil, x.err
	}
	if x.opening == nil {
		x.opening, x.stopOpening = context.WithCancelCause(x.ctx)
	}
	ctx := x.opening
	x.failMu.Unlock()
	return x.peers.Link(ctx, peer)
}

// bytes returns the memory of a slice.
func (x *Executor) bytes(s Slice) []byte {
	buf := x.main
	switch s.Buf {
	case Input:
		buf = x.input
	case Scratch:
		buf = x.scratch
	}
	from, to := s.Off*x.plan.elem, s.End()*x.plan.elem
	return buf[from:to:to]
}
