package rdma

import (
	"fmt"
	"runtime"
	"time"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// An engine acts on the completions of a link: in calls, by polling, and in goroutines
// of its own, on events and timeouts. It is guarded by Link.mu, except for the channels
// and, once the link has started, events, which do not change.
type engine struct {
	l       *Link
	wcs     [32]hca.WC
	events  bool          // the devices have completion events
	armed   bool          // the next completion is an event
	ticking bool          // run calls tick at intervals
	kick    chan struct{} // starts the ticking
	stop    chan struct{} // ends run
}

func newEngine(l *Link) engine {
	return engine{l: l, kick: make(chan struct{}, 1), stop: make(chan struct{})}
}

// start starts the goroutines.
func (e *engine) start() {
	l := e.l
	e.events = true
	for _, r := range l.rails {
		e.events = e.events && r.ch != nil
	}
	if e.events {
		for _, r := range l.rails {
			l.wg.Go(func() { e.serve(r) })
		}
	}
	l.wg.Go(e.run)
}

// poll acts on all available completions, and reports whether there were any. s is the
// side of the caller; nil in a goroutine of the link. The caller holds Link.mu, which
// poll may release in between.
func (e *engine) poll(s *side) bool {
	l := e.l
	if l.torn {
		return false
	}
	var now time.Time
	any := false
	for _, r := range l.rails {
		for more := true; more; {
			n, err := r.cq.Poll(e.wcs[:])
			if err != nil {
				l.lose(err)
			}
			if n > 0 && !l.rc {
				now = time.Now()
			}
			for i := range n {
				e.complete(&e.wcs[i], now)
			}
			any = any || n > 0
			more = n == len(e.wcs)
		}
	}
	if any {
		e.proceed(s)
	}
	return any
}

// complete acts on one completion.
func (e *engine) complete(wc *hca.WC, now time.Time) {
	l := e.l
	ln := l.lanes[wc.ID&^idSend>>idLaneShift]
	if wc.Status != hca.Success && l.err == nil {
		l.sever(fmt.Errorf("RDMA device %s: %v", ln.rail.dev.dev.Name(), wc.Status))
	}
	if wc.ID&idSend != 0 {
		ln.sent(wc.Status == hca.Success)
	} else {
		ln.received(wc, now)
	}
}

// proceed continues what completions have made possible.
func (e *engine) proceed(s *side) {
	l := e.l
	if !l.rc {
		for _, ln := range l.lanes {
			ln.mend()
		}
	}
	// While the sender is in a call, it does its own copying.
	if t := &l.toPeer; t.queue.len() > 0 {
		if s == &t.side || t.ctx == nil {
			t.pump()
		} else {
			t.notify()
		}
	}
	l.control.emit()
	if e.wantsTick() {
		e.startTicking()
	}
}

// wait returns when something has happened that may concern the side. It polls for a
// while, if polling has paid off lately, and then parks.
func (e *engine) wait(s *side) {
	s.poked = false
	if e.poll(s) {
		return
	}
	if s.spin.Try() {
		for start := time.Now(); time.Since(start) < s.spin.Budget; {
			e.l.mu.Unlock()
			runtime.Gosched()
			e.l.mu.Lock()
			if s.poked || e.poll(s) {
				s.spin.Won()
				return
			}
		}
		s.spin.Lost()
	}
	e.park(s)
}

// How long a caller sleeps between polls without completion events.
const (
	shortNap = 20 * time.Microsecond
	longNap  = time.Millisecond
)

// park waits without polling, or polls rarely where there are no events.
func (e *engine) park(s *side) {
	l := e.l
	s.parked = true
	defer func() { s.parked = false }()
	if e.events {
		e.arm()
		if e.poll(s) || s.poked {
			return
		}
		l.mu.Unlock()
		<-s.wake
		l.mu.Lock()
		return
	}
	for nap := shortNap; !s.poked; nap = min(2*nap, longNap) {
		s.timer.Reset(nap)
		l.mu.Unlock()
		woken := false
		select {
		case <-s.wake:
			woken = true
		case <-s.timer.C:
		}
		l.mu.Lock()
		if woken || e.poll(s) {
			return
		}
	}
}

// arm makes the next completion an event.
func (e *engine) arm() {
	if e.armed || e.l.torn {
		return
	}
	e.armed = true
	for _, r := range e.l.rails {
		if err := r.cq.Arm(); err != nil {
			e.l.lose(err)
		}
	}
}

// serve handles the events of a rail.
func (e *engine) serve(r *rail) {
	for r.ch.Wait() == nil {
		e.l.mu.Lock()
		e.armed = false
		e.poll(nil)
		e.attend()
		e.l.mu.Unlock()
	}
}

// attend ensures that completions are handled while no caller polls: they raise events
// when a caller is parked, when something is posted, and always on an unreliable device,
// whose peer waits for acknowledgements.
func (e *engine) attend() {
	l := e.l
	if l.torn || l.err != nil && l.toPeer.queue.len() == 0 {
		return
	}
	pending := l.toPeer.tidy() > 0 || l.toPeer.parked || l.fromPeer.parked
	switch {
	case pending && e.events:
		e.arm()
		for e.poll(nil) {
		}
	case pending, !l.rc && !e.armed, e.wantsTick():
		e.startTicking()
	}
}
