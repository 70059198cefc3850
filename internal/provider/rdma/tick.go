package rdma

import "time"

// tickEvery is the interval between ticks. Acknowledgements are delayed by at most this,
// so that data messages can carry them.
const tickEvery = time.Millisecond

// lookEvery is the interval between ticks of a reliable link that is not in use while
// requests have not completed: one of them may have failed.
const lookEvery = 100 * time.Millisecond

// startTicking makes run call tick.
func (e *engine) startTicking() {
	if e.ticking {
		return
	}
	e.ticking = true
	select {
	case e.kick <- struct{}{}:
	default:
	}
}

// wantsTick reports whether a timeout is pending.
func (e *engine) wantsTick() bool {
	if e.l.err != nil {
		return false
	}
	for _, ln := range e.l.lanes {
		if e.l.rc && ln.out.flight.len() > 0 {
			return true
		}
		if !e.l.rc && (ln.in.expect != ln.in.saidAck || ln.out.unacked() > 0 || ln.out.repair.starved) {
			return true
		}
	}
	return false
}

// run calls tick when needed, until stop is closed.
func (e *engine) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-e.stop:
			return
		case <-e.kick:
		case <-timer.C:
			e.l.mu.Lock()
			again := e.tick()
			e.l.mu.Unlock()
			if !again {
				continue
			}
		}
		timer.Reset(e.tickIn())
	}
}

// tickIn returns the time to the next tick. Without events, posted messages make
// progress only by ticks.
func (e *engine) tickIn() time.Duration {
	e.l.mu.Lock()
	defer e.l.mu.Unlock()
	if !e.events && e.l.toPeer.tidy() > 0 {
		return shortNap
	}
	if e.l.rc && e.events {
		return lookEvery
	}
	return tickEvery
}

// tick polls and handles timeouts. It reports whether another tick is needed.
func (e *engine) tick() bool {
	e.poll(nil)
	if !e.l.rc && e.l.err == nil {
		now := time.Now()
		for _, ln := range e.l.lanes {
			if ln.in.expect != ln.in.saidAck {
				ln.in.ackNow = true
			}
			ln.overdue(now)
			ln.mend()
		}
		e.l.toPeer.pump()
		e.l.control.emit()
	}
	if e.events && e.l.busy == 0 && !e.l.torn && e.l.err == nil {
		e.arm()
		for e.poll(nil) {
		}
	}
	e.ticking = e.l.err == nil && !e.l.torn &&
		(e.wantsTick() || !e.armed && (!e.l.rc || e.l.toPeer.tidy() > 0))
	return e.ticking
}
