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

// A stream is one connection of a link, from when it is attached until it breaks.
// All of it is under the link's lock, except what its reader and its writer each
// have of their own.
type stream struct {
	l     *link
	index int
	rail  *rail
	conn  Conn
	alive bool
	over  chan struct{} // closed when it is not alive any more
	wake  sync.Cond     // the writer's
	idle  bool          // the writer waits, and nobody has woken it

	lane     *lane // what it shares with the other streams on its rail
	underway fifo  // sent and not acknowledged, in order
	acked    uint64
	arrived  uint64 // segments that came in on this stream
	ackDue   bool
	goDue    bool
	byeDue   bool
	born     time.Time
	lastAck  time.Time

	// The writer's.
	depth *depth
	head  [headerSize]byte
	one   [headerSize + smallSize]byte
	vec   [2][]byte
	bufs  net.Buffers
}

// takes says whether the stream is free to carry another segment.
func (s *stream) takes() bool {
	if s.l.queue.len() == 0 {
		return false
	}
	switch seg := s.l.queue.front(); seg.avoid {
	case nil:
		return s.chosen() && s.l.takes(s.lane, seg.n)
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
		h := header{kind: kindAck, arrived: s.arrived, credit: l.grant()}
		var seg *segment
		switch {
		case s.goDue:
			h.kind, s.goDue = kindGo, false
		case s.takes():
			if l.queue.len() >= maxQueued {
				l.out.wake.Broadcast() // there is room again
			}
			seg = l.queue.pop()
			seg.sentAt, seg.delivered = time.Now(), s.lane.pace.delivered
			seg.writers++
			s.underway.push(seg)
			s.lane.bytes += seg.n
			s.rail.sent.Add(uint64(seg.n))
			h.kind, h.n, h.seq, h.off, h.total, h.tag = kindData, uint32(seg.n), seg.seq, seg.off, seg.total, seg.tag
		case s.byeDue:
			h.kind, h.seq, s.byeDue = kindBye, l.next, false
		}
		s.ackDue = false
		depth := s.lane.depth()
		l.mu.Unlock()
		if seg != nil && seg.n > smallSize {
			s.depth.to(depth)
		}
		err := s.put(&h, seg)
		l.mu.Lock()
		if seg != nil {
			seg.writers--
			l.release(seg)
		}
		if err != nil {
			l.drop(s, err)
			return
		}
		if h.kind == kindBye {
			l.left(s)
		}
	}
}

// put writes the frame of a segment, or one without payload.
func (s *stream) put(h *header, seg *segment) error {
	var err error
	if seg != nil {
		h.sum = s.l.sumOf(seg.buf[:seg.n])
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
			seg, err = l.heard(s, &h)
		}
		if err == nil && seg != nil {
			_, err = io.ReadFull(br, seg.buf[:seg.n])
			if err == nil && l.sumOf(seg.buf[:seg.n]) != h.sum {
				err = &fabric.CorruptError{What: "payload"}
			}
			l.arrive(s, seg, err)
		}
		if err != nil {
			l.fail(s, err)
			return
		}
	}
}

// heard acts on a frame. It returns where the payload goes, if there is one.
func (l *link) heard(s *stream, h *header) (*segment, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !s.alive {
		return nil, errDropped
	}
	if err := s.acknowledge(h.arrived); err != nil {
		return nil, err
	}
	if h.credit > l.credit {
		l.credit = h.credit
		l.out.wake.Broadcast()
	}
	if h.kind == kindGo || h.kind == kindData {
		l.up()
	}
	switch h.kind {
	case kindAck, kindGo:
		return nil, nil
	case kindBye:
		l.bye, l.end = true, h.seq
		l.in.wake.Broadcast()
		l.out.wake.Broadcast()
		return nil, nil
	case kindData:
	default:
		return nil, fmt.Errorf("a frame of the unknown kind %d", h.kind)
	}
	if h.n > segmentSize || h.seq >= l.consumed+maxSegments || h.off+uint64(h.n) > h.total {
		return nil, fmt.Errorf("segment %d of %d bytes at %d of %d was not asked for", h.seq, h.n, h.off, h.total)
	}
	seg := l.stock.get(int(h.n))
	seg.seq, seg.off, seg.total, seg.tag = h.seq, h.off, h.total, h.tag
	return seg, nil
}

// acknowledge lets go of what has arrived at the other end.
func (s *stream) acknowledge(arrived uint64) error {
	if arrived == s.acked {
		return nil
	}
	if arrived < s.acked || arrived > s.acked+uint64(s.underway.len()) {
		return fmt.Errorf("%d segments acknowledged, %d sent", arrived, s.acked+uint64(s.underway.len()))
	}
	s.lastAck = time.Now()
	for ; s.acked < arrived; s.acked++ {
		seg := s.underway.pop()
		s.lane.bytes -= seg.n
		s.lane.pace.ack(seg, s.lastAck)
		seg.acked = true
		s.l.release(seg)
	}
	s.wake.Signal()
	s.l.offer() // another stream on the rail may be idle where this one is writing
	return nil
}

// arrive takes a segment whose payload has been read, unless it is a second copy.
func (l *link) arrive(s *stream, seg *segment, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slot := &l.slots[seg.seq%maxSegments]
	if err != nil || !s.alive || seg.seq < l.consumed || *slot != nil {
		l.stock.put(seg)
	} else {
		*slot = seg
		s.rail.recv.Add(uint64(seg.n))
		if seg.seq == l.consumed {
			l.in.wake.Signal()
		}
	}
	if err == nil && s.alive {
		s.arrived++
		s.ackDue = true
		s.wake.Signal()
		l.last = s
	}
}

var errDropped = errors.New("the stream was given up")
