package collective

import (
	"fmt"

	"thundercollective/internal/reduce"
)

// A laneRunner executes one lane of each plan.
type laneRunner struct {
	x      *Executor
	number int
	work   chan struct{} // for all but the first lane, which the caller of Run runs

	// The reduction of the message being received. Its pieces may come to several
	// goroutines at once, which only read this.
	onPiece       func(off int, p []byte) error // the method reducePiece, bound once
	dst, arg      []byte
	incomingFirst bool
	divide        bool
}

func newLaneRunner(x *Executor, number int) *laneRunner {
	l := &laneRunner{x: x, number: number}
	l.onPiece = l.reducePiece
	return l
}

// start gives the lane a goroutine.
func (l *laneRunner) start() {
	l.work = make(chan struct{})
	l.x.workers.Add(1)
	go func() {
		defer l.x.workers.Done()
		for range l.work {
			l.run()
			l.x.busyLanes.Done()
		}
	}()
}

// run performs the lane of the current plan until its end or a failure.
func (l *laneRunner) run() {
	lane := &l.x.plan.lanes[l.number]
	for i := range lane.actions {
		a := &lane.actions[i]
		for _, w := range lane.waits[a.from:a.to] {
			if err := l.x.boxes[w.peer].wait(w.n); err != nil {
				l.x.fail(l.x.stepError(l.number, i, err))
				return
			}
		}
		if l.x.failed.Load() {
			return
		}
		if err := l.perform(a); err != nil {
			l.x.fail(l.x.stepError(l.number, i, err))
			return
		}
	}
}

func (l *laneRunner) perform(a *planAction) error {
	x := l.x
	switch a.Step {
	case SendStep:
		return x.boxes[a.Peer].post(l.number, x.bytes(a.Src), a.tail)
	case RecvStep:
		link, err := x.boxes[a.Peer].open()
		if err != nil {
			return err
		}
		return link.Recv(x.ctx, &x.tag, x.bytes(a.Dst))
	case RecvReduceStep:
		link, err := x.boxes[a.Peer].open()
		if err != nil {
			return err
		}
		l.dst, l.arg = x.bytes(a.Dst), x.bytes(a.Arg)
		l.incomingFirst, l.divide = a.IncomingFirst, a.Final && x.plan.divide
		err = link.RecvFunc(x.ctx, &x.tag, len(l.dst), l.onPiece)
		l.dst, l.arg = nil, nil
		return err
	case CopyStep:
		copy(x.bytes(a.Dst), x.bytes(a.Src))
	case ReduceStep:
		dst := x.bytes(a.Dst)
		x.plan.kernel(dst, x.bytes(a.Arg), x.bytes(a.Src))
		if a.Final && x.plan.divide {
			reduce.Divide(x.plan.dtype, dst, dst, x.size)
		}
	default:
		return fmt.Errorf("unknown step %v", a.Step)
	}
	return nil
}

// reducePiece combines a piece of the message being received.
func (l *laneRunner) reducePiece(off int, p []byte) error {
	end := off + len(p)
	dst, left, right := l.dst[off:end], l.arg[off:end], p
	if l.incomingFirst {
		left, right = right, left
	}
	l.x.plan.kernel(dst, left, right)
	if l.divide {
		reduce.Divide(l.x.plan.dtype, dst, dst, l.x.size)
	}
	return nil
}
