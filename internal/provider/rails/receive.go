package rails

import (
	"context"
	"fmt"
	"io"

	"thundercollective/fabric"
)

// A receiver is the receiving side of a link: it puts the segments that arrive on any
// stream in order, and grants the peer credit for more. It is guarded by link.mu.
type receiver struct {
	side
	slots    [maxSegments]*segment // arrived, by number
	consumed uint64                // segments that calls have received
	granted  uint64                // credit that was last sent to the peer
	bye      bool                  // the peer has closed, after end segments
	end      uint64
}

// receive copies the segments of one message, in order, to buf, or passes them to f.
func (r *receiver) receive(ctx context.Context, tag *fabric.Tag, n int, buf []byte, f func(int, []byte) error) error {
	l := r.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := r.begin(ctx); err != nil {
		return err
	}
	for got, first := 0, true; first || got < n; first = false {
		seg, err := r.await(ctx)
		if err != nil {
			return err
		}
		if seg.tag != *tag || seg.total != uint64(n) || seg.off != uint64(got) {
			r.broken = &fabric.TagError{Peer: l.peer, Want: *tag, Got: seg.tag, WantLen: uint64(n), GotLen: seg.total}
			return r.broken
		}
		if seg.n > 0 {
			l.mu.Unlock()
			if f == nil {
				copy(buf[got:], seg.buf[:seg.n])
			} else {
				err = f(got, seg.buf[:seg.n])
			}
			l.mu.Lock()
		}
		got += seg.n
		r.consume(seg)
		if err != nil {
			r.broken = err
			return err
		}
	}
	l.traffic.Received(n)
	return nil
}

// await waits for the next segment in order.
func (r *receiver) await(ctx context.Context) (*segment, error) {
	slot := &r.slots[r.consumed%maxSegments]
	for *slot == nil {
		lost := r.l.lost
		if r.bye && r.consumed == r.end {
			lost = r.l.lostError(io.EOF)
		}
		if err := r.check(ctx, lost); err != nil {
			return nil, err
		}
		r.wake.Wait()
	}
	return *slot, nil
}

// consume frees the slot of a segment, and has the peer told of its new credit when
// that is worth a frame of its own.
func (r *receiver) consume(seg *segment) {
	r.slots[r.consumed%maxSegments] = nil
	r.consumed++
	r.l.stock.put(seg)
	if last := r.l.streams.last; r.consumed+maxSegments-r.granted >= maxSegments/4 && last != nil && last.alive {
		last.ackDue = true
		last.wake.Signal()
	}
}

// grant returns the credit to send to the peer.
func (r *receiver) grant() uint64 {
	r.granted = r.consumed + maxSegments
	return r.granted
}

// expect returns the segment to read the payload of a data frame into.
func (r *receiver) expect(h *header) (*segment, error) {
	if h.n > segmentSize || h.seq >= r.consumed+maxSegments || h.off+uint64(h.n) > h.total {
		return nil, fmt.Errorf("segment %d (%d bytes at offset %d of %d) is beyond the granted credit or malformed", h.seq, h.n, h.off, h.total)
	}
	seg := r.l.stock.get(int(h.n))
	seg.seq, seg.off, seg.total, seg.tag = h.seq, h.off, h.total, h.tag
	return seg, nil
}

// arrive takes a segment whose payload has been read from s, unless it is a duplicate.
func (r *receiver) arrive(s *stream, seg *segment, err error) {
	l := r.l
	l.mu.Lock()
	defer l.mu.Unlock()
	slot := &r.slots[seg.seq%maxSegments]
	if err != nil || !s.alive || seg.seq < r.consumed || *slot != nil {
		l.stock.put(seg)
	} else {
		*slot = seg
		s.rail.recv.Add(uint64(seg.n))
		if seg.seq == r.consumed {
			r.wake.Signal()
		}
	}
	if err == nil && s.alive {
		s.arrived++
		s.ackDue = true
		s.wake.Signal()
		l.streams.last = s
	}
}
