package shm

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"thundercollective/fabric"
)

// outbound is the sending side: the wire, and what was posted and did not fit yet.
type outbound struct {
	mu sync.Mutex // held by the call under way, and while somebody moves the queue on
	outWire
	side
	link    *link
	waiting atomic.Bool // the queue is not empty

	queue []posting // from first on
	first int
	sent  int  // bytes of queue[first] that went
	begun bool // its first cell went
	left  int  // how many messages the condition allows to remain; see met
}

// A posting is a message that waits for room.
type posting struct {
	tag fabric.Tag
	buf []byte
}

// Post implements fabric.Link.
func (l *link) Post(tag *fabric.Tag, b []byte) (bool, error) {
	out := &l.out
	out.mu.Lock()
	defer out.mu.Unlock()
	if err := l.sendable(); err != nil {
		return false, err
	}
	sent, begun := 0, false
	if out.remaining() == 0 {
		sent, begun = out.put(tag, b, 0, false)
		if begun {
			l.bell.wake()
			if sent == len(b) {
				out.count(sent)
				return true, nil
			}
		}
		out.sent, out.begun = sent, begun
		out.waiting.Store(true)
		l.progress.backlog.Add(1)
	}
	out.queue = append(out.queue, posting{*tag, b})
	if l.mixed.Load() {
		l.mover.start(l)
	}
	return false, nil
}

// sendable returns why nothing can be sent any more, nil if it can.
func (l *link) sendable() error {
	switch {
	case l.out.broken != nil:
	case l.closed.Load():
		l.out.broken = fabric.ErrClosed
	case l.lost.Load():
		l.out.broken = l.lostError()
	}
	return l.out.broken
}

func (o *outbound) remaining() int { return len(o.queue) - o.first }

// advance moves the queue on as far as there is room, and reports whether anything
// moved. The caller holds out.mu.
func (l *link) advance() bool {
	out := &l.out
	if out.remaining() == 0 || l.closed.Load() || l.lost.Load() {
		return false
	}
	moved := false
	for out.remaining() > 0 {
		p := &out.queue[out.first]
		sent, begun := out.put(&p.tag, p.buf, out.sent, out.begun)
		if begun != out.begun || sent != out.sent {
			moved = true
		}
		out.sent, out.begun = sent, begun
		if !begun || sent < len(p.buf) {
			break
		}
		out.count(sent)
		*p = posting{}
		out.first++
		out.sent, out.begun = 0, false
	}
	if out.remaining() == 0 {
		l.empty()
	}
	if moved {
		l.bell.wake()
	}
	return moved
}

// empty forgets the queue, of which nothing is needed any more.
func (l *link) empty() {
	out := &l.out
	clear(out.queue)
	out.queue, out.first, out.sent, out.begun = out.queue[:0], 0, 0, false
	if out.waiting.Swap(false) {
		l.progress.backlog.Add(-1)
	}
}

// drop gives the posted buffers back unsent: the side is broken.
func (l *link) drop() {
	if l.out.remaining() > 0 {
		l.empty()
	}
}

// met implements condition: few enough messages remain. The waiting call holds mu.
func (o *outbound) met() bool {
	if o.remaining() > o.left {
		o.link.advance()
	}
	return o.remaining() <= o.left
}

// Await implements fabric.Link.
func (l *link) Await(ctx context.Context, left int) error {
	out := &l.out
	out.mu.Lock()
	defer out.mu.Unlock()
	if out.remaining() <= left {
		return out.broken
	}
	err := l.begin(ctx, &out.side)
	if err == nil {
		out.left = left
		err = l.progress.wait(ctx, l, out, &out.spin)
	}
	if err != nil {
		out.broken = err
		l.drop()
	}
	return err
}

// Take implements fabric.Link. What is short goes over a board.
func (l *link) Take(context.Context, *fabric.Tag, int) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// Borrow implements fabric.Link.
func (l *link) Borrow() int { return -1 }
