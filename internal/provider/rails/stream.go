package rails

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"thundercollective/fabric"
)

// A stream is one connection of a link, from attach until it breaks. It is guarded by
// link.mu, except for the last group of fields, which its writer goroutine owns.
type stream struct {
	l     *link
	index int
	rail  *rail
	conn  Conn
	alive bool
	over  chan struct{} // closed when alive becomes false
	wake  sync.Cond     // the writer's
	idle  bool          // the writer waits and has not been woken

	load     *railLoad // shared with the other streams on its rail
	underway fifo      // sent and not acknowledged, in order
	acked    uint64
	arrived  uint64 // segments that came in on this stream
	ackDue   bool
	goDue    bool
	byeDue   bool
	born     time.Time
	lastAck  time.Time

	// Owned by the writer.
	depth *depth
	head  [headerSize]byte
	one   [headerSize + smallSize]byte
	vec   [2][]byte
	bufs  net.Buffers
}

// takes reports whether the stream should carry the next segment of the queue.
func (s *stream) takes() bool {
	if s.l.out.queue.len() == 0 {
		return false
	}
	switch seg := s.l.out.queue.front(); seg.avoid {
	case nil:
		return s.chosen() && s.l.streams.takes(s.load, seg.n)
	default:
		return seg.avoid != s
	}
}

// write is the stream's writing goroutine.
func (s *stream) write() {
	l := s.l
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for s.alive && !s.ackDue && !s.goDue && !s.byeDue && !s.takes() {
			s.idle = true
			s.wake.Wait()
			s.idle = false
		}
		if !s.alive {
			return
		}
		h := header{kind: kindAck, arrived: s.arrived, credit: l.in.grant()}
		var seg *segment
		switch {
		case s.goDue:
			h.kind, s.goDue = kindGo, false
		case s.takes():
			if l.out.queue.len() >= maxQueued {
				l.out.wake.Broadcast() // the queue has room again
			}
			seg = l.out.queue.pop()
			seg.sentAt, seg.delivered = time.Now(), s.load.pace.delivered
			seg.writers++
			s.underway.push(seg)
			s.load.bytes += seg.n
			s.rail.sent.Add(uint64(seg.n))
			h.kind, h.n, h.seq, h.off, h.total, h.tag = kindData, uint32(seg.n), seg.seq, seg.off, seg.total, seg.tag
		case s.byeDue:
			h.kind, h.seq, s.byeDue = kindBye, l.out.next, false
		}
		s.ackDue = false
		depth := s.load.depth()
		l.mu.Unlock()
		if seg != nil && seg.n > smallSize {
			s.depth.to(depth)
		}
		err := s.put(&h, seg)
		l.mu.Lock()
		if seg != nil {
			seg.writers--
			l.out.release(seg)
		}
		if err != nil {
			l.drop(s, err)
			return
		}
		if h.kind == kindBye {
			s.shut()
		}
	}
}

// put writes the frame of a segment, or one without payload.
func (s *stream) put(h *header, seg *segment) error {
	var err error
	if seg != nil {
		h.sum = s.l.f.sumOf(seg.buf[:seg.n])
	}
	h.encode(&s.head)
	switch {
	case seg == nil:
		_, err = s.conn.Write(s.head[:])
	case seg.n <= smallSize:
		copy(s.one[:], s.head[:])
		n := headerSize + copy(s.one[headerSize:], seg.buf[:seg.n])
		_, err = s.conn.Write(s.one[:n])
	default:
		s.vec[0], s.vec[1] = s.head[:], seg.buf[:seg.n]
		s.bufs = s.vec[:]
		_, err = s.bufs.WriteTo(s.conn)
	}
	return err
}

// read is the stream's reading goroutine.
func (s *stream) read() {
	l := s.l
	br := bufio.NewReaderSize(s.conn, 4<<10)
	var raw [headerSize]byte
	var h header
	for {
		if _, err := io.ReadFull(br, raw[:]); err != nil {
			l.fail(s, err)
			return
		}
		err := h.decode(&raw)
		var seg *segment
		if err == nil {
			seg, err = s.heard(&h)
		}
		if err == nil && seg != nil {
			_, err = io.ReadFull(br, seg.buf[:seg.n])
			if err == nil && l.f.sumOf(seg.buf[:seg.n]) != h.sum {
				err = &fabric.CorruptError{What: "payload"}
			}
			l.in.arrive(s, seg, err)
		}
		if err != nil {
			l.fail(s, err)
			return
		}
	}
}

// heard acts on a frame. If a payload follows, it returns the segment to read it into.
func (s *stream) heard(h *header) (*segment, error) {
	l := s.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if !s.alive {
		return nil, errDropped
	}
	if err := s.acknowledge(h.arrived); err != nil {
		return nil, err
	}
	if h.credit > l.out.credit {
		l.out.credit = h.credit
		l.out.wake.Broadcast()
	}
	if h.kind == kindGo || h.kind == kindData {
		l.opener.up()
	}
	switch h.kind {
	case kindAck, kindGo:
		return nil, nil
	case kindBye:
		l.in.bye, l.in.end = true, h.seq
		l.in.wake.Broadcast()
		l.out.wake.Broadcast()
		return nil, nil
	case kindData:
		return l.in.expect(h)
	}
	return nil, fmt.Errorf("unknown frame kind %d", h.kind)
}

// acknowledge releases what has arrived at the other end.
func (s *stream) acknowledge(arrived uint64) error {
	if arrived == s.acked {
		return nil
	}
	if arrived < s.acked || arrived > s.acked+uint64(s.underway.len()) {
		return fmt.Errorf("%d segments were acknowledged, but only %d were sent", arrived, s.acked+uint64(s.underway.len()))
	}
	s.lastAck = time.Now()
	for ; s.acked < arrived; s.acked++ {
		seg := s.underway.pop()
		s.load.bytes -= seg.n
		s.load.pace.ack(seg, s.lastAck)
		seg.acked = true
		s.l.out.release(seg)
	}
	s.wake.Signal()
	s.l.streams.offer() // another stream on the rail may be idle where this one is writing
	return nil
}

var errDropped = errors.New("stream was dropped")
