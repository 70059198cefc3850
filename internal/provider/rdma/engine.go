package rdma

import (
	"fmt"
	"runtime"
	"time"

	"thundercollective/internal/provider/rdma/internal/hca"
	"thundercollective/internal/spin"
)

// poll acts on every completion there is, and reports whether there was any. s is
// the side of the caller, nil if it is a goroutine of the link. The caller holds
// mu; it may be let go of in between.
func (l *Link) poll(s *side) bool {
	if l.torn {
		return false
	}
	var now time.Time
	any := false
	for _, r := range l.rails {
		for more := true; more; {
			n, err := r.cq.Poll(l.wcs[:])
			if err != nil {
				l.lose(err)
			}
			if n > 0 && !l.rc {
				now = time.Now()
			}
			for i := range n {
				l.complete(&l.wcs[i], now)
			}
			any = any || n > 0
			more = n == len(l.wcs)
		}
	}
	if any {
		l.proceed(s)
	}
	return any
}

// proceed does what completions have made possible.
func (l *Link) proceed(s *side) {
	if !l.rc {
		for _, ln := range l.lanes {
			l.mend(ln)
		}
	}
	// A sender that is in its call does its own copying.
	if t := &l.toPeer; t.queue.len() > 0 {
		if s == &t.side || !t.inside {
			l.pump()
		} else {
			l.notify(&t.side)
		}
	}
	l.emit()
	if l.wantsTick() {
		l.startTicking()
	}
}

// complete acts on one completion.
func (l *Link) complete(wc *hca.WC, now time.Time) {
	ln := l.lanes[wc.ID&^idSend>>idLaneShift]
	if wc.Status != hca.Success && l.err == nil {
		l.sever(fmt.Errorf("RDMA device %s: %v", ln.rail.dev.dev.Name(), wc.Status))
	}
	if wc.ID&idSend != 0 {
		l.sent(ln, wc.Status == hca.Success)
		return
	}
	ln.posted--
	if wc.Status != hca.Success {
		return
	}
	slot := int(uint32(wc.ID))
	if wc.Op == hca.RecvImm {
		ln.expect++
		l.giveBack(ln, slot)
		l.written(ln, wc.Imm)
		return
	}
	if !l.arrived(ln, slot, int(wc.Len), now) {
		l.postRecv(ln, slot)
	}
}

// arrived reads what is in a receive slot. It reports whether the slot is kept.
func (l *Link) arrived(ln *lane, slot, n int, now time.Time) (kept bool) {
	var h header
	b := ln.rxSlot(slot)
	if n >= headerSize {
		h.get(b)
	}
	sound := n >= headerSize && int(h.n) <= n-headerSize
	if sound && !l.rc {
		sound = intact(b[:headerSize+int(h.n)])
	}
	switch {
	case !sound && l.rc:
		l.lose(errProtocol)
		return false
	case !sound:
		l.damaged.Add(1)
		l.missed(ln)
		return false
	}
	l.heard = now
	switch {
	case h.kind == kindControl && h.n == controlSize && ln.id == 0:
		l.control(b[headerSize:], now)
		return false
	case h.kind == kindProbe:
		ln.probed, ln.ackNow = h.seq, true
		return false
	case h.kind != kindData:
		l.lose(errProtocol)
		return false
	}
	l.heed(ln, h.ack, h.limit, now)
	switch {
	case h.seq == ln.expect:
	case l.rc:
		l.lose(errProtocol)
		return false
	case h.seq < ln.expect:
		ln.ackNow = true // it was repeated: the acknowledgement was lost
		return false
	default:
		l.missed(ln)
		return false
	}
	ln.expect++
	if ln.gap {
		ln.gap, ln.ackNow = false, true // the sender waits with the rest
	}
	ln.ready.push(piece{slot, h.msg, h.len, h.off, int(h.n), h.tag})
	l.notify(&l.fromPeer.side)
	return true
}

// missed notes that the message expected on a lane was lost.
func (l *Link) missed(ln *lane) {
	if !ln.gap {
		ln.gap, ln.ackNow = true, true
	}
}

// A side is one direction of a link, as its caller sees it. It is guarded by
// Link.mu.
type side struct {
	watch
	spin   spin.Spinner
	broken error // set once the direction is over
	parked bool
	poked  bool // something happened while the caller was polling
	wake   chan struct{}
	timer  *time.Timer // where there are no events
}

func newSide(budget time.Duration) side {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return side{spin: spin.Spinner{Budget: budget}, wake: make(chan struct{}, 1), timer: t}
}

// notify tells a side that its caller should look again.
func (l *Link) notify(s *side) {
	if !s.parked {
		s.poked = true
		return
	}
	select {
	case s.wake <- struct{}{}:
	default: // it has been told
	}
}

// wait returns when something has happened that may matter to the side. It polls
// for a while, if that has been worth it, and parks then.
func (l *Link) wait(s *side) {
	s.poked = false
	if l.poll(s) {
		return
	}
	if s.spin.Try() {
		for start := time.Now(); time.Since(start) < s.spin.Budget; {
			l.mu.Unlock()
			runtime.Gosched()
			l.mu.Lock()
			if s.poked || l.poll(s) {
				s.spin.Won()
				return
			}
		}
		s.spin.Lost()
	}
	l.park(s)
}

// Naps are how long a caller sleeps between looks where there are no events.
const (
	shortNap = 20 * time.Microsecond
	longNap  = time.Millisecond
)

func (l *Link) park(s *side) {
	s.parked = true
	defer func() { s.parked = false }()
	if l.events {
		l.arm()
		if l.poll(s) || s.poked {
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
		if woken || l.poll(s) {
			return
		}
	}
}

// arm makes the next completion an event.
func (l *Link) arm() {
	if l.armed || l.torn {
		return
	}
	l.armed = true
	for _, r := range l.rails {
		if err := r.cq.Arm(); err != nil {
			l.lose(err)
		}
	}
}

// serve works off the events of a rail.
func (l *Link) serve(r *rail) {
	for r.ch.Wait() == nil {
		l.mu.Lock()
		l.armed = false
		l.poll(nil)
		l.attend()
		l.mu.Unlock()
	}
}

// attend sees to it that the link is served when no caller does: completions are
// made events when a caller is parked, when something is posted, and always on an
// unreliable device, whose peer waits for acknowledgements.
func (l *Link) attend() {
	if l.torn || l.err != nil && l.toPeer.queue.len() == 0 {
		return
	}
	pending := l.tidy() > 0 || l.toPeer.parked || l.fromPeer.parked
	switch {
	case pending && l.events:
		l.arm()
		for l.poll(nil) {
		}
	case pending, !l.rc && !l.armed, l.wantsTick():
		l.startTicking()
	}
}
