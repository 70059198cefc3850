package collective

import (
	"fmt"

	"thundercollective/internal/reduce"
)

// A laneRunner executes one lane of each plan.
type laneRunner struct {
	r      *runner
	number int
	work   chan struct{} // for all but the first lane, which the caller of Run runs

	// The reduction of the message being received. Its pieces may come to several
	// goroutines at once, which only read this.
	onPiece       func(off int, p []byte) error // the method reducePiece, bound once
	dst, arg      []byte
	incomingFirst bool
	divide        bool
}

func newLaneRunner(r *runner, number int) *laneRunner {
	l := &laneRunner{r: r, number: number}
	l.onPiece = l.reducePiece
	return l
}

// start gives the lane a goroutine.
func (l *laneRunner) start() {
	l.work = make(chan struct{})
	l.r.workers.Add(1)
	go func() {
		defer l.r.workers.Done()
		for range l.work {
			l.run()
			l.r.busyLanes.Done()
		}
	}()
}

// run performs the lane of the current plan until its end or a failure.
func (l *laneRunner) run() {
	lane := &l.r.plan.lanes[l.number]
	for i := range lane.actions {
		a := &lane.actions[i]
		for _, w := range lane.waits[a.from:a.to] {
			if err := l.r.peers[w.peer].wait(l.r.ctx, w.n); err != nil {
				l.r.fail(l.r.stepError(l.number, i, err))
				return
			}
		}
		if l.r.failed.Load() {
			return
		}
		if err := l.perform(a); err != nil {
			l.r.fail(l.r.stepError(l.number, i, err))
			return
		}
	}
}

func (l *laneRunner) perform(a *planAction) error {
	r := l.r
	switch a.Step {
	case SendStep:
		return r.peers[a.Peer].post(l.number, &r.tag, r.bytes(a.Src))
	case RecvStep:
		return r.peers[a.Peer].link.Recv(r.ctx, &r.tag, r.bytes(a.Dst))
	case RecvReduceStep:
		l.dst, l.arg = r.bytes(a.Dst), r.bytes(a.Arg)
		l.incomingFirst, l.divide = a.IncomingFirst, a.Final && r.plan.divide
		err := r.peers[a.Peer].link.RecvFunc(r.ctx, &r.tag, len(l.dst), l.onPiece)
		l.dst, l.arg = nil, nil
		return err
	case CopyStep:
		copy(r.bytes(a.Dst), r.bytes(a.Src))
	case ReduceStep:
		dst := r.bytes(a.Dst)
		r.plan.kernel(dst, r.bytes(a.Arg), r.bytes(a.Src))
		if a.Final && r.plan.divide {
			reduce.Divide(r.plan.dtype, dst, dst, r.size)
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
	l.r.plan.kernel(dst, left, right)
	if l.divide {
		reduce.Divide(l.r.plan.dtype, dst, dst, l.r.size)
	}
	return nil
}
