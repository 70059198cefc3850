package rdma

import "time"

// tickEvery is how often a link that needs it is looked after: acknowledgements
// are held back for that long at the most, in the hope that data will carry them.
const tickEvery = time.Millisecond

// lookEvery is how often a reliable link is looked at that nobody uses, while the
// device has requests: one of them may have failed.
const lookEvery = 100 * time.Millisecond

// startTicking makes run look after the link.
func (l *Link) startTicking() {
	if l.ticking {
		return
	}
	l.ticking = true
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// wantsTick reports whether something has to be done in time.
func (l *Link) wantsTick() bool {
	if l.err != nil {
		return false
	}
	for _, ln := range l.lanes {
		if l.rc && ln.flight.len() > 0 {
			return true
		}
		if !l.rc && (ln.expect != ln.saidAck || ln.repair.unacked(ln) > 0 || ln.repair.starved) {
			return true
		}
	}
	return false
}

// run looks after the link until stop is closed.
func (l *Link) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-l.kick:
		case <-timer.C:
			l.mu.Lock()
			again := l.tick()
			l.mu.Unlock()
			if !again {
				continue
			}
		}
		timer.Reset(l.tickIn())
	}
}

// tickIn is the time to the next tick. Without events, what was posted waits for
// nothing else.
func (l *Link) tickIn() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.events && l.tidy() > 0 {
		return shortNap
	}
	if l.rc && l.events {
		return lookEvery
	}
	return tickEvery
}

// tick reports whether another is needed.
func (l *Link) tick() bool {
	l.poll(nil)
	if !l.rc && l.err == nil {
		now := time.Now()
		for _, ln := range l.lanes {
			if ln.expect != ln.saidAck {
				ln.ackNow = true
			}
			l.overdue(ln, now)
			l.mend(ln)
		}
		l.pump()
		l.emit()
	}
	if l.events && l.busy == 0 && !l.torn && l.err == nil {
		l.arm()
		for l.poll(nil) {
		}
	}
	l.ticking = l.err == nil && !l.torn &&
		(l.wantsTick() || !l.armed && (!l.rc || l.tidy() > 0))
	return l.ticking
}
