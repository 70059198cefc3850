package rails

import (
	"fmt"
	"net"
	"time"

	"thundercollective/fabric"
)

const (
	// drainTime is how long a closed link continues to deliver what was sent.
	drainTime = 3 * time.Second
	// partTime is how long a closed stream waits for the peer to close its end.
	partTime = 200 * time.Millisecond
)

// keepAlive makes the system probe idle streams.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: time.Second, Count: 3}

var errReplaced = fmt.Errorf("replaced by a newer connection")

// attach makes a connection one of the streams of the link, replacing the previous one.
// It reports false if the link needs no more streams.
func (l *link) attach(index int, conn Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opener.done || l.lost != nil {
		return false
	}
	t := &l.streams
	if old := t.list[index]; old != nil {
		l.drop(old, errReplaced)
		if l.lost != nil {
			return false
		}
	}
	r, load := t.railOf(index), &t.loads[t.plan[index]]
	if load.live++; load.live == 1 {
		load.pace = pace{} // it may be another cable now
	}
	s := &stream{l: l, index: index, rail: r, load: load, conn: conn, depth: newDepth(conn), alive: true, over: make(chan struct{}), born: time.Now(), lastAck: time.Now(), ackDue: true}
	s.wake.L = &l.mu
	s.goDue = l.opener.isUp && l.dials()
	t.list[index] = s
	t.live++
	r.attached()
	if c, ok := conn.(interface {
		SetKeepAliveConfig(net.KeepAliveConfig) error
	}); ok {
		c.SetKeepAliveConfig(keepAlive) // detects a rail that was lost while idle
	}
	if t.last == nil || !t.last.alive {
		t.last = s
	}
	l.f.wg.Go(s.write)
	l.f.wg.Go(s.read)
	return true
}

// fail drops a stream that broke.
func (l *link) fail(s *stream, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(s, err)
}

// drop removes a stream and queues again what it had under way. The peer is lost with
// the last stream. The caller holds the lock.
func (l *link) drop(s *stream, err error) {
	if !s.alive {
		return
	}
	t := &l.streams
	s.alive = false
	close(s.over)
	s.wake.Signal()
	abort(s.conn)
	t.list[s.index] = nil
	t.live--
	var again []*segment
	s.load.live--
	s.load.bytes -= s.underway.bytes
	for s.underway.len() > 0 {
		again = append(again, s.underway.pop())
	}
	orderly := l.opener.done || l.in.bye // a link that ends closes its streams, too
	if !orderly && err != errReplaced {
		s.rail.dropped(t.live > 0, len(again), err)
	}
	if t.live == 0 && err != errReplaced && l.opener.isUp {
		l.lost = l.lostError(err)
		l.opener.finish()
		l.in.wake.Broadcast()
		l.out.wake.Broadcast()
		return
	}
	l.out.wake.Broadcast() // for drain
	if len(again) > 0 {
		l.out.queue.insert(again)
	}
	for _, seg := range l.out.queue.all() {
		seg.avoid = nil // the stream to avoid may be the last one
	}
	for _, other := range t.list {
		if other != nil {
			other.ackDue = true // the last credit may have gone with the stream
			other.wake.Signal()
		}
	}
}

// dropAll drops every stream. The caller holds the lock.
func (l *link) dropAll(err error) {
	for _, s := range l.streams.list {
		if s != nil {
			l.drop(s, err)
		}
	}
}

// shut closes the sending direction after a goodbye. The peer may still be sending; the
// stream is closed when it ends.
func (s *stream) shut() {
	if c, ok := s.conn.(interface{ CloseWrite() error }); ok {
		c.CloseWrite()
	}
}

// abort closes a connection and discards what was not delivered.
func abort(c Conn) {
	if t, ok := c.(interface{ SetLinger(int) error }); ok {
		t.SetLinger(0)
	}
	c.Close()
}

// drain waits until what was sent has arrived, unless the peer is lost, says goodbye and
// closes the streams.
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
	for l.out.kept > 0 && l.streams.live > 0 && !late && !l.in.bye && !l.givenUp {
		l.out.wake.Wait()
	}
	for _, s := range l.streams.list {
		if s != nil {
			s.byeDue = true
			s.wake.Signal()
		}
	}
	// The peer answers a goodbye by closing its end; it may not care to.
	waited := time.AfterFunc(partTime, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		late = true
		l.out.wake.Broadcast()
	})
	defer waited.Stop()
	for l.streams.live > 0 && !late {
		l.out.wake.Wait()
	}
	l.dropAll(fabric.ErrClosed)
}
