package rails

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"thundercollective/fabric"
)

// link is one rank's end of the streams to a peer.
type link struct {
	f    *Fabric
	peer int
	ch   fabric.Channel
	id   uint64 // what the streams' greetings have to say; 0 before the first
	plan []int  // by stream: on which of the rails it is

	ready chan struct{}   // closed by up or by fail
	ctx   context.Context // ends when no more streams are wanted
	stop  context.CancelCauseFunc

	mu       sync.Mutex
	streams  []*stream // by index; nil where none is alive
	live     int
	lanes    []lane  // by rail
	last     *stream // on which something came in last
	stock    stock
	wanted   bool // Link was asked for it
	isUp     bool
	trouble  error // of the last attempt
	startErr error // why the link did not come up
	lost     error // why no stream is left
	closed   bool
	done     bool // ctx has ended

	out side
	// On the way out.
	next   uint64 // number of the next segment
	credit uint64 // the peer takes segments below this
	queue  fifo   // cut and waiting for a stream
	kept   int    // segments that have not been acknowledged
	uncut  int    // bytes of the message that is being sent which are not in the queue yet
	// What Post has left to Flush, if anything: the rest of a message.
	owes   bool
	rest   []byte
	post   fabric.Tag
	posted int // length of the message

	in side
	// On the way in.
	slots    [maxSegments]*segment // arrived, by number
	consumed uint64
	granted  uint64 // the credit that the peer knows of
	bye      bool   // the peer has closed, after end segments
	end      uint64

	sentMsgs, sentBytes, recvMsgs, recvBytes atomic.Uint64
}

// side is what sending and receiving each have of their own.
type side struct {
	wake   sync.Cond
	done   <-chan struct{} // of the context registered with
	off    func() bool
	broken error
}

func newLink(f *Fabric, peer int, ch fabric.Channel) *link {
	l := &link{
		f: f, peer: peer, ch: ch, credit: maxSegments, granted: maxSegments,
		ready: make(chan struct{}),
		plan:  f.cfg.plan(peer, ch),
		lanes: make([]lane, len(f.cfg.Rails[peer])),
	}
	l.streams = make([]*stream, len(l.plan))
	l.ctx, l.stop = context.WithCancelCause(f.ctx)
	l.out.wake.L, l.in.wake.L = &l.mu, &l.mu
	return l
}

// railOf is the rail of a stream.
func (l *link) railOf(stream int) *rail { return l.f.rails[l.peer][l.plan[stream]] }

// begin prepares a call on one side. The caller holds the lock.
func (l *link) begin(ctx context.Context, s *side) error {
	if s.broken != nil {
		return s.broken
	}
	if ctx.Done() != s.done {
		if s.off != nil {
			s.off()
			s.off = nil
		}
		if s.done = ctx.Done(); s.done != nil {
			s.off = context.AfterFunc(ctx, func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				s.wake.Broadcast()
			})
		}
	}
	return l.check(ctx, s, nil)
}

// check returns what ends a call on a side: our Close, its context, or lost.
func (l *link) check(ctx context.Context, s *side, lost error) error {
	switch {
	case l.closed:
		s.broken = fabric.ErrClosed
	case ctx.Err() != nil:
		s.broken = context.Cause(ctx)
	case lost != nil:
		s.broken = lost
	}
	return s.broken
}

// goneErr is why nothing can be sent any more; nil while it can.
func (l *link) goneErr() error {
	if l.lost == nil && l.bye {
		return l.lostErr(io.ErrClosedPipe)
	}
	return l.lost
}

func (l *link) lostErr(err error) error {
	return &fabric.LostError{Peer: l.peer, Addr: l.f.describe(l.peer), Err: err}
}

// Send implements fabric.Link.
func (l *link) Send(ctx context.Context, tag *fabric.Tag, b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.send(ctx, tag, b, len(b))
}

// send cuts what is left of a message of total bytes, waiting for room.
func (l *link) send(ctx context.Context, tag *fabric.Tag, b []byte, total int) error {
	if err := l.begin(ctx, &l.out); err != nil {
		return err
	}
	for first := len(b) == total; first || len(b) > 0; first = false {
		for !l.room() || l.goneErr() != nil {
			if err := l.check(ctx, &l.out, l.goneErr()); err != nil {
				return err
			}
			l.out.wake.Wait()
		}
		b = l.cut(tag, b, total)
	}
	l.sentMsgs.Add(1)
	l.sentBytes.Add(uint64(total))
	return nil
}

// room says whether another segment may be cut: not long before a stream is free for
// it, while it is still warm in the cache.
func (l *link) room() bool {
	return l.next < l.credit && l.kept < maxSegments && l.queue.len() < maxQueued
}

// cut queues the next segment of a message of which b is left, and returns what is
// left then.
func (l *link) cut(tag *fabric.Tag, b []byte, total int) []byte {
	seg := l.stock.get(min(len(b), segmentSize))
	seg.seq, seg.off, seg.total, seg.tag = l.next, uint64(total-len(b)), uint64(total), *tag
	copy(seg.buf, b[:seg.n])
	l.next++
	l.kept++
	l.uncut = len(b) - seg.n
	l.queue.push(seg)
	l.offer()
	return b[seg.n:]
}

// offer wakes a stream to carry what is queued: of those that have nothing to do,
// one on the rail with the least under way for its rate. Those at work look into the
// queue themselves when they are done.
func (l *link) offer() {
	var best *stream
	var least float64
	for _, s := range l.streams {
		if s == nil || !s.idle || !s.takes() {
			continue
		}
		wait := float64(s.lane.bytes+1) / (s.lane.pace.rate + 1)
		if best == nil || wait < least {
			best, least = s, wait
		}
	}
	if best != nil {
		best.idle = false
		best.wake.Signal()
	}
}

// release frees a segment that nobody needs any more.
func (l *link) release(seg *segment) {
	if !seg.acked || seg.writers > 0 {
		return
	}
	l.stock.put(seg)
	l.kept--
	l.out.wake.Broadcast()
}

// Post implements fabric.Poster.
func (l *link) Post(tag *fabric.Tag, b []byte) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out.broken == nil {
		if l.closed {
			l.out.broken = fabric.ErrClosed
		} else {
			l.out.broken = l.goneErr()
		}
	}
	if l.out.broken != nil {
		return false, l.out.broken
	}
	total := len(b)
	first := true
	for ; (first || len(b) > 0) && l.room(); first = false {
		b = l.cut(tag, b, total)
	}
	if first || len(b) > 0 {
		l.owes, l.rest, l.post, l.posted = true, b, *tag, total
		return false, nil
	}
	l.sentMsgs.Add(1)
	l.sentBytes.Add(uint64(total))
	return true, nil
}

// Flush implements fabric.Poster.
func (l *link) Flush(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.owes {
		return l.begin(ctx, &l.out)
	}
	b := l.rest
	l.owes, l.rest = false, nil
	return l.send(ctx, &l.post, b, l.posted)
}

// Recv implements fabric.Link.
func (l *link) Recv(ctx context.Context, tag *fabric.Tag, b []byte) error {
	return l.receive(ctx, tag, len(b), b, nil)
}

// RecvFunc implements fabric.Link.
func (l *link) RecvFunc(ctx context.Context, tag *fabric.Tag, n int, f func(off int, p []byte) error) error {
	return l.receive(ctx, tag, n, nil, f)
}

// receive takes the segments of one message, in order, to buf or to f.
func (l *link) receive(ctx context.Context, tag *fabric.Tag, n int, buf []byte, f func(int, []byte) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.begin(ctx, &l.in); err != nil {
		return err
	}
	for got, first := 0, true; first || got < n; first = false {
		seg, err := l.await(ctx)
		if err != nil {
			return err
		}
		if seg.tag != *tag || seg.total != uint64(n) || seg.off != uint64(got) {
			l.in.broken = &fabric.TagError{Peer: l.peer, Want: *tag, Got: seg.tag, WantLen: uint64(n), GotLen: seg.total}
			return l.in.broken
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
		l.consume(seg)
		if err != nil {
			l.in.broken = err
			return err
		}
	}
	l.recvMsgs.Add(1)
	l.recvBytes.Add(uint64(n))
	return nil
}

// await waits for the next segment in order.
func (l *link) await(ctx context.Context) (*segment, error) {
	slot := &l.slots[l.consumed%maxSegments]
	for *slot == nil {
		lost := l.lost
		if l.bye && l.consumed == l.end {
			lost = l.lostErr(io.EOF)
		}
		if err := l.check(ctx, &l.in, lost); err != nil {
			return nil, err
		}
		l.in.wake.Wait()
	}
	return *slot, nil
}

// consume makes room for another segment, and tells the peer when that is worth a
// frame of its own.
func (l *link) consume(seg *segment) {
	l.slots[l.consumed%maxSegments] = nil
	l.consumed++
	l.stock.put(seg)
	if l.consumed+maxSegments-l.granted >= maxSegments/4 && l.last != nil && l.last.alive {
		l.last.ackDue = true
		l.last.wake.Signal()
	}
}

// grant is the credit to tell the peer.
func (l *link) grant() uint64 {
	l.granted = l.consumed + maxSegments
	return l.granted
}

// Traffic implements fabric.Counter.
func (l *link) Traffic() fabric.Traffic {
	return fabric.Traffic{
		SentMessages: l.sentMsgs.Load(), SentBytes: l.sentBytes.Load(),
		RecvMessages: l.recvMsgs.Load(), RecvBytes: l.recvBytes.Load(),
	}
}
