package rails

import (
	"fmt"
	"net"
	"time"

	"thundercollective/fabric"
)

// drainTime bounds how long a link that was closed goes on delivering what had been
// sent.
const drainTime = 3 * time.Second

// attach puts a connection to use as one of the streams of the link, in place of
// the one before it. It is false when there is no use for it any more.
func (l *link) attach(index int, conn Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done || l.lost != nil {
		return false
	}
	if old := l.streams[index]; old != nil {
		l.drop(old, errReplaced)
		if l.lost != nil {
			return false
		}
	}
	r, la := l.railOf(index), &l.lanes[l.plan[index]]
	if la.live++; la.live == 1 {
		la.pace = pace{} // it may be another cable now
	}
	s := &stream{l: l, index: index, rail: r, lane: la, conn: conn, depth: newDepth(conn), alive: true, over: make(chan struct{}), born: time.Now(), lastAck: time.Now(), ackDue: true}
	s.wake.L = &l.mu
	s.goDue = l.isUp && l.dials()
	l.streams[index] = s
	l.live++
	r.attached()
	if c, ok := conn.(interface {
		SetKeepAliveConfig(net.KeepAliveConfig) error
	}); ok {
		c.SetKeepAliveConfig(keepAlive) // finds a rail that was lost while idle
	}
	if l.last == nil || !l.last.alive {
		l.last = s
	}
	l.f.wg.Go(s.write)
	l.f.wg.Go(s.read)
	return true
}

// keepAlive is how the system watches over streams with nothing to send.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: time.Second, Count: 3}

var errReplaced = fmt.Errorf("replaced by a newer connection")

// dials says which end opens the streams.
func (l *link) dials() bool { return l.peer < l.f.Rank() }

// up lets the link be used. The caller holds the lock.
func (l *link) up() {
	if l.isUp || l.done {
		return
	}
	l.isUp = true
	close(l.ready)
	if l.dials() {
		for _, s := range l.streams {
			if s != nil {
				s.goDue = true
				s.wake.Signal()
			}
		}
	}
}

// abandon gives a link up that did not come up; false if it did.
func (l *link) abandon(err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isUp || l.startErr != nil {
		return !l.isUp
	}
	l.startErr = err
	close(l.ready)
	l.finish()
	l.dropAll(err)
	l.out.wake.Broadcast() // whoever waits for the first stream
	return true
}

func (l *link) failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.startErr != nil
}

// finish says that no more streams are wanted. The caller holds the lock.
func (l *link) finish() {
	if !l.done {
		l.done = true
		l.stop(fabric.ErrClosed)
	}
}

// fail gives up a stream that broke.
func (l *link) fail(s *stream, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(s, err)
}

// drop gives up a stream: what it had under way is queued again. With the last one
// goes the peer. The caller holds the lock.
func (l *link) drop(s *stream, err error) {
	if !s.alive {
		return
	}
	s.alive = false
	close(s.over)
	s.wake.Signal()
	abort(s.conn)
	l.streams[s.index] = nil
	l.live--
	var again []*segment
	s.lane.live--
	s.lane.bytes -= s.underway.bytes
	for s.underway.len() > 0 {
		again = append(again, s.underway.pop())
	}
	orderly := l.done || l.bye // at the end of a link streams go as well
	if !orderly && err != errReplaced {
		s.rail.dropped(l.live > 0, len(again), err)
	}
	if l.live == 0 && err != errReplaced && l.isUp {
		l.lost = l.lostErr(err)
		l.finish()
		l.in.wake.Broadcast()
		l.out.wake.Broadcast()
		return
	}
	l.out.wake.Broadcast() // whoever waits for the end of the streams
	if len(again) > 0 {
		l.queue.insert(again)
	}
	for _, seg := range l.queue.all() {
		seg.avoid = nil // it may be the last one
	}
	for _, other := range l.streams {
		if other != nil {
			other.ackDue = true // the last credit may have gone with the stream
			other.wake.Signal()
		}
	}
}

func (l *link) dropAll(err error) {
	for _, s := range l.streams {
		if s != nil {
			l.drop(s, err)
		}
	}
}

// left is called when a stream has said goodbye: nothing is sent on it any more,
// but the peer may still be sending; its end closes the stream.
func (l *link) left(s *stream) {
	if c, ok := s.conn.(interface{ CloseWrite() error }); ok {
		c.CloseWrite()
	}
}

// abort closes a connection without lingering over what was not delivered.
func abort(c Conn) {
	if t, ok := c.(interface{ SetLinger(int) error }); ok {
		t.SetLinger(0)
	}
	c.Close()
}

// Close implements fabric.Link. What was sent is delivered in the background; the
// fabric waits for that.
func (l *link) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	l.finish()
	for _, s := range []*side{&l.in, &l.out} {
		if s.off != nil {
			s.off()
			s.off = nil
		}
		s.wake.Broadcast()
	}
	if l.live > 0 {
		l.f.wg.Go(l.drain)
	}
	return nil
}

// drain sees to it that what was sent arrives, says goodbye and closes the streams.
func (l *link) drain() {
	late := false
	timer := time.AfterFunc(drainTime, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		late = true
		l.out.wake.Broadcast()
	})
	defer timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.kept > 0 && l.live > 0 && !late && !l.bye {
		l.out.wake.Wait()
	}
	for _, s := range l.streams {
		if s != nil {
			s.byeDue = true
			s.wake.Signal()
		}
	}
	// The peer answers a goodbye by closing its end, or is not interested.
	waited := time.AfterFunc(partTime, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		late = true
		l.out.wake.Broadcast()
	})
	defer waited.Stop()
	for l.live > 0 && !late {
		l.out.wake.Wait()
	}
	l.dropAll(fabric.ErrClosed)
}

// partTime is how long the end of a stream waits for the other end's.
const partTime = 200 * time.Millisecond
