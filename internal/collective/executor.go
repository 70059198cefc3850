package collective

import (
	"context"
	"errors"

	"thundercollective/fabric"
	"thundercollective/internal/reduce"
)

// Links opens the links of a group. Calls may come from several goroutines at once, also
// for the same peer; they then return the same link.
type Links interface {
	Link(ctx context.Context, peer int) (fabric.Link, error)
}

// ErrExecutorClosed is returned by Finish and Run after Close.
var ErrExecutorClosed = errors.New("collective: executor is closed")

// An Executor carries out the operations of one group, one at a time. It owns what they
// need: the board, the link of two ranks, shared memory, and the goroutines that send
// messages. It decides the path of every operation.
//
// The methods are for one goroutine at a time, except that Close waits for a Run, or for
// a Finish that uses messages or shared memory.
type Executor struct {
	facts
	memory   fabric.Memory // that the ranks share; nil if there is none
	board    fabric.Board  // of memory
	link     fabric.Link   // for PathExchange; nil if there is none
	searched bool          // link is settled
	crowded  bool

	runner runner
	shared sharing
}

// NewExecutor returns an executor for one rank of a group of size ranks. Links are
// opened when a plan first needs them.
//
// failed is called with the first error of an operation as soon as it happens, while
// other calls of the operation may still be blocked. It has to make them return, by
// cancelling the context of the operation or by closing the links. It may take its time,
// for instance to find out which rank is to blame. It is called from any goroutine, once.
// If it is nil, the executor closes the links.
func NewExecutor(rank, size int, links Links, failed func(error)) *Executor {
	x := &Executor{facts: facts{room: -1, short: -1}, searched: size != 2}
	x.runner.init(rank, size, links, failed)
	x.shared.init(&x.runner)
	return x
}

// Share tells the executor about the memory that the ranks of the group share; nil if they
// share none. All ranks have to find out the same before any of them tells its executor,
// between operations, once. Before that, the executor assumes that they share nothing. It
// closes the memory in the end. crowded says that all ranks are on one machine and
// outnumber its processors.
func (x *Executor) Share(m fabric.Memory, crowded bool) {
	x.crowded = crowded
	if m == nil {
		return
	}
	x.memory, x.board = m, m.Board()
	x.shares, x.reads, x.room = true, m.Reads(), x.board.Room()
	x.searched = true // the board replaces the link
	x.shared.share(m)
}

// Shares reports whether the ranks share memory.
func (x *Executor) Shares() bool { return x.shares }

// Crowded reports whether the ranks outnumber the processors of their one machine.
func (x *Executor) Crowded() bool { return x.crowded }

// An Operation is a plan to be carried out on certain buffers.
type Operation struct {
	Plan *Plan
	// Tag is carried by every message. It must not change until Finish returns.
	Tag *fabric.Tag
	// Main and Input are the buffers of the Spec, at least as long as Plan.Buffers says.
	Main, Input []byte

	path  Path
	begun progress
}

// progress is how far Begin has come.
type progress uint8

const (
	notStarted progress = iota
	posted              // the peer's message is with the link, which has borrowed the buffer
	sent                // this rank's part has left; its buffer may be written
)

// Path is the path that the operation takes, or has taken. Begin decides it; where it
// depends on the memory of all ranks, it is PathShared until Finish knows.
func (op *Operation) Path() Path { return op.path }

// Begin decides the path of an operation, and does at once what needs no waiting: it
// writes to the board if that is free, or posts the message of an exchange. It reports
// whether it has done so. Finish does the rest. The caller may use the time between the
// two while the message is under way.
//
// An error ends the operation, as one of Finish does.
func (x *Executor) Begin(ctx context.Context, op *Operation) (started bool, err error) {
	if !x.searched {
		x.findLink()
	}
	op.path, op.begun = x.decide(op.Plan), notStarted
	switch op.path {
	case PathBoard:
		if !x.board.Free() {
			return false, nil
		}
		op.begun = sent
		return true, op.Plan.show(ctx, x.board, op.Tag, op.Main, op.Input)
	case PathExchange:
		gone, err := op.Plan.post(x.link, op.Tag, op.Main, op.Input)
		op.begun = posted
		if gone {
			op.begun = sent
		}
		return true, err
	}
	return false, nil
}

// Finish carries out what Begin has left of an operation. When it returns, nothing
// touches the buffers any more.
//
// The first error ends the operation and the executor: see StepError and NewExecutor.
// Main is undefined then. When ctx ends, the error wraps its cause.
func (x *Executor) Finish(ctx context.Context, op *Operation) error {
	switch op.path {
	case PathBoard:
		if op.begun == notStarted {
			if err := op.Plan.show(ctx, x.board, op.Tag, op.Main, op.Input); err != nil {
				return err
			}
		}
		return op.Plan.take(ctx, x.board, op.Tag, op.Main, op.Input)
	case PathExchange:
		err := op.Plan.fetch(ctx, x.link, op.Tag, op.Main, op.Input, op.begun == sent)
		if err != nil && op.begun == posted {
			x.takeBack(ctx, err)
		}
		return err
	case PathShared:
		return x.finishShared(ctx, op)
	}
	return x.Run(ctx, op.Plan, op.Tag, op.Main, op.Input)
}

// takeBack returns when the link has given back the buffer of an exchange that failed.
func (x *Executor) takeBack(ctx context.Context, err error) {
	if x.runner.onFailure != nil {
		x.runner.onFailure(err) // ends ctx
	} else {
		x.runner.closeLinks()
	}
	_ = x.link.Await(ctx, 0)
}

// finishShared carries out an operation through shared memory, in round trips, or after
// all by messages.
func (x *Executor) finishShared(ctx context.Context, op *Operation) error {
	r := &x.runner
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.admit(ctx, op.Plan, op.Main, op.Input); err != nil {
		return err
	}
	r.set(ctx, op.Plan, op.Tag, op.Main[:op.Plan.main], op.Input[:op.Plan.input])
	path, err := x.shared.run(&x.facts)
	op.path = path
	if err != nil {
		r.fail(err)
	}
	x.shared.release()
	if path == PathMessages && !r.failed.Load() {
		return r.execute(ctx, op.Plan, op.Tag, op.Main, op.Input)
	}
	r.release()
	if r.failed.Load() {
		return r.err
	}
	return nil
}

// Run carries out a plan by messages alone, whatever path Begin would choose: to measure
// the links, or to find out what the ranks share. Otherwise it is like Begin and Finish.
func (x *Executor) Run(ctx context.Context, plan *Plan, tag *fabric.Tag, main, input []byte) error {
	return x.runner.run(ctx, plan, tag, main, input)
}

// Decide returns the path that Begin and Finish take for the plan of s on elements of
// type dt. alloc says that the buffers of all ranks lie in memory of the fabric's Alloc;
// Begin does not know where they lie, and Finish goes by what all ranks say.
func (x *Executor) Decide(s Spec, dt reduce.DType, alloc bool) Path {
	p := &Plan{dtype: dt, segment: s.segmentBytes(dt)}
	if p.outline(s) != nil {
		return PathMessages // for lack of any
	}
	if !x.searched {
		x.findLink()
	}
	path := x.decide(p)
	if path == PathShared {
		path = x.settle(p, alloc, alloc || x.reads)
	}
	return path
}

// findLink finds out whether the link of two ranks allows exchanges, once it is open.
func (x *Executor) findLink() {
	link := x.runner.opened(1 - x.runner.rank)
	if link == nil {
		return
	}
	x.searched = true
	if x.short = link.Borrow(); x.short >= 0 {
		x.link = link
	}
}

// Close waits for a run under way, ends the executor's goroutines and closes the memory.
// The links stay open.
func (x *Executor) Close() {
	x.runner.close()
	if x.memory != nil {
		_ = x.memory.Close() // nobody needs it any more
		x.memory, x.board, x.room = nil, nil, -1
	}
}
