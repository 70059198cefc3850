package rails

import (
	"context"
	"io"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/sendqueue"
)

// A sender is the sending side of a link: it cuts messages into segments, queues them
// for the streams, and keeps each until the peer has acknowledged it. It is guarded by
// link.mu.
type sender struct {
	side
	next   uint64 // number of the next segment
	credit uint64 // the peer takes segments below this
	queue  fifo   // cut and waiting for a stream
	kept   int    // segments that have not been acknowledged
	uncut  int    // bytes of the current message that are not in the queue yet
	rest   []byte // of a message that post could not queue whole
}

// gone returns why the peer takes no more messages; nil while it does.
func (o *sender) gone() error {
	if o.l.lost == nil && o.l.in.bye {
		return o.l.lostError(io.ErrClosedPipe)
	}
	return o.l.lost
}

// transmit sends a message, or the rest that post has left of it, for the link's queue.
func (o *sender) transmit(ctx context.Context, m *sendqueue.Message) error {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	b := m.Buf
	if m.Begun {
		b, o.rest = o.rest, nil
	}
	return o.send(ctx, &m.Tag, b, len(m.Buf))
}

// send queues b, the rest of a message of total bytes, waiting for room.
func (o *sender) send(ctx context.Context, tag *fabric.Tag, b []byte, total int) error {
	if err := o.begin(ctx); err != nil {
		return err
	}
	for first := len(b) == total; first || len(b) > 0; first = false {
		for !o.room() || o.gone() != nil {
			if err := o.check(ctx, o.gone()); err != nil {
				return err
			}
			o.wake.Wait()
		}
		b = o.cut(tag, b, total)
	}
	o.l.traffic.Sent(total)
	return nil
}

// usable returns why nothing can be sent any more, nil if it can.
func (o *sender) usable() error {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	return o.check(context.Background(), nil)
}

// post queues as much of a message as there is room for, and leaves the rest to transmit.
func (o *sender) post(tag *fabric.Tag, b []byte) (done bool, err error) {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	if o.broken == nil {
		o.check(context.Background(), o.gone())
	}
	if o.broken != nil {
		return false, o.broken
	}
	total := len(b)
	first := true
	for ; (first || len(b) > 0) && o.room(); first = false {
		b = o.cut(tag, b, total)
	}
	if first || len(b) > 0 {
		o.rest = b
		return false, nil
	}
	o.l.traffic.Sent(total)
	return true, nil
}

// room reports whether another segment may be queued. The queue is short, so that a
// segment is still in the cache when a stream is free for it.
func (o *sender) room() bool {
	return o.next < o.credit && o.kept < maxSegments && o.queue.len() < maxQueued
}

// cut queues the next segment of a message and returns what is left: b, the rest of
// the message, without that segment.
func (o *sender) cut(tag *fabric.Tag, b []byte, total int) []byte {
	seg := o.l.stock.get(min(len(b), segmentSize))
	seg.seq, seg.off, seg.total, seg.tag = o.next, uint64(total-len(b)), uint64(total), *tag
	copy(seg.buf, b[:seg.n])
	o.next++
	o.kept++
	o.uncut = len(b) - seg.n
	o.queue.push(seg)
	o.l.streams.offer()
	return b[seg.n:]
}

// release frees a segment once it is acknowledged and no stream is writing it.
func (o *sender) release(seg *segment) {
	if !seg.acked || seg.writers > 0 {
		return
	}
	o.l.stock.put(seg)
	o.kept--
	o.wake.Broadcast()
}

// hedgeTime is how long a message of the control channel may be under way before it
// is sent on another rail too.
const hedgeTime = 100 * time.Millisecond

// hedge sends what is late on the control channel a second time, on another rail.
// Heartbeats use this channel, and messages behind a late one have to wait: if it were
// sent again only when its rail is given up, ranks would by then have declared each
// other dead.
func (o *sender) hedge(now time.Time) {
	if o.l.ch != fabric.Control || o.l.streams.live < 2 {
		return
	}
	for _, s := range o.l.streams.list {
		if s == nil {
			continue
		}
		for _, seg := range s.underway.all() {
			if seg.hedged || now.Sub(seg.sentAt) < hedgeTime {
				continue
			}
			twin := o.l.stock.get(seg.n)
			twin.seq, twin.off, twin.total, twin.tag = seg.seq, seg.off, seg.total, seg.tag
			copy(twin.buf, seg.buf[:seg.n])
			twin.avoid, twin.hedged, seg.hedged = s, true, true
			o.kept++
			o.queue.insert([]*segment{twin})
			o.l.streams.wakeAll()
		}
	}
}
