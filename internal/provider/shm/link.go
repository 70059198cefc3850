package shm

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"thundercollective/fabric"
	"thundercollective/internal/spin"
)

// errGone is the cause when the bootstrap connection to a peer has ended.
var errGone = errors.New("the peer has gone")

var _ fabric.Link = (*link)(nil)

// link is one rank's end of the two wires to a peer.
type link struct {
	peer     int
	progress *progress
	mixed    *atomic.Bool // of the fabric: some peers share no memory
	bell     peerBell     // the peer's
	seg      *segment
	boot     fabric.Link // lives as long as the peer's end does

	out   outbound
	in    inbound
	mover mover
	// What crossed in rounds of a board, whose user alone counts it.
	shown, seen tally

	// Of a round trip, whose call holds both sides.
	trip roundTrip
	back returned

	closed    atomic.Bool
	lost      atomic.Bool // the peer is gone
	closeOnce sync.Once
	quit      chan struct{}  // closed by Close
	watcher   sync.WaitGroup // of the peer, and the mover
}

// inbound is the receiving side.
type inbound struct {
	mu sync.Mutex // held by the call under way
	inWire
	side
}

// side is what both sides of a link have of their own.
type side struct {
	broken error // why it is unusable
	// The context registered with, by its Done channel, and how to end that.
	done <-chan struct{}
	off  func() bool

	spin            spin.Spinner
	messages, bytes atomic.Uint64
}

// newLink makes one end of a link whose segment both ranks have mapped. lower is set if
// this rank is the lower one, which sends in the first wire.
func newLink(peer int, p *progress, mixed *atomic.Bool, b peerBell, seg *segment, boot fabric.Link, lower bool, s spin.Spinner) *link {
	l := &link{peer: peer, progress: p, mixed: mixed, bell: b, seg: seg, boot: boot, quit: make(chan struct{})}
	l.out.spin, l.in.spin = s, s
	mine, theirs := 1, 0
	if lower {
		mine, theirs = 0, 1
	}
	l.out.wire, l.in.wire = wireOf(seg, mine), wireOf(seg, theirs)
	l.out.link = l
	p.add(l)
	l.watcher.Go(l.watch)
	return l
}

// watch notices the end of the peer. Nothing is ever sent on the bootstrap link.
func (l *link) watch() {
	var b [1]byte
	l.boot.Recv(context.Background(), &fabric.Tag{}, b[:])
	l.lost.Store(true)
	l.progress.interrupt()
}

// begin prepares a call on one side.
func (l *link) begin(ctx context.Context, s *side) error {
	return s.begin(ctx, l.progress, l.closed.Load())
}

// begin prepares a call.
func (s *side) begin(ctx context.Context, p *progress, closed bool) error {
	switch {
	case s.broken != nil:
	case closed:
		s.broken = fabric.ErrClosed
	case ctx.Err() != nil:
		s.broken = context.Cause(ctx)
	}
	if s.broken != nil {
		return s.broken
	}
	if done := ctx.Done(); done != s.done {
		s.forget()
		if s.done = done; done != nil {
			s.off = context.AfterFunc(ctx, p.interrupt)
		}
	}
	return nil
}

// forget lets go of the context.
func (s *side) forget() {
	if s.off != nil {
		s.off()
	}
	s.off, s.done = nil, nil
}

func (s *side) count(n int) {
	s.messages.Add(1)
	s.bytes.Add(uint64(n))
}

// hopeless returns why c will not be met any more, nil if it may be.
func (l *link) hopeless(ctx context.Context, c condition) error {
	lost := l.lost.Load()
	switch {
	case l.closed.Load():
		return fabric.ErrClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case lost && !c.met(): // what it sent before counts
		return l.lostError()
	}
	return nil
}

func (l *link) lostError() error { return &fabric.LostError{Peer: l.peer, Err: errGone} }

// Recv implements fabric.Link.
func (l *link) Recv(ctx context.Context, tag *fabric.Tag, b []byte) error {
	return l.receive(ctx, tag, len(b), b, nil)
}

// RecvFunc implements fabric.Link. f gets the chunks where they lie.
func (l *link) RecvFunc(ctx context.Context, tag *fabric.Tag, n int, f func(off int, p []byte) error) error {
	return l.receive(ctx, tag, n, nil, f)
}

func (l *link) receive(ctx context.Context, tag *fabric.Tag, n int, b []byte, f func(off int, p []byte) error) error {
	in := &l.in
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := l.begin(ctx, &in.side); err != nil {
		return err
	}
	err := l.take(ctx, tag, n, b, f)
	if err != nil {
		in.broken = err
		return err
	}
	in.count(n)
	return nil
}

// take receives one message into b, or to f if b is nil.
func (l *link) take(ctx context.Context, tag *fabric.Tag, n int, b []byte, f func(off int, p []byte) error) error {
	in := &l.in
	for off := 0; ; {
		if err := l.arrived(ctx); err != nil {
			return err
		}
		if off == 0 {
			if err := l.expect(tag, n); err != nil {
				return err
			}
		}
		k := min(chunkSize, n-off)
		p := in.payload(k, n)
		var err error
		switch {
		case f == nil:
			copy(b[off:], p)
		case k > 0:
			err = f(off, p)
		}
		in.release()
		l.bell.wake()
		if err != nil {
			return err
		}
		if off += k; off == n {
			return nil
		}
		l.progress.push() // keep the peers busy, too
	}
}

// arrived waits for the next cell.
func (l *link) arrived(ctx context.Context) error {
	if l.in.met() {
		return nil
	}
	return l.progress.wait(ctx, l, &l.in, &l.in.spin)
}

// expect returns what is wrong with the message that begins with the cell that has arrived.
func (l *link) expect(tag *fabric.Tag, n int) error {
	c := l.in.first()
	if c.tag != *tag || c.length != uint64(n) {
		return &fabric.TagError{Peer: l.peer, Want: *tag, Got: c.tag, WantLen: uint64(n), GotLen: c.length}
	}
	return nil
}

// Close implements fabric.Link.
func (l *link) Close() error {
	l.closeOnce.Do(func() {
		l.closed.Store(true)
		close(l.quit)
		l.progress.interrupt()
		// Calls under way see closed and end; then nobody uses the memory.
		l.out.mu.Lock()
		l.drop()
		l.out.forget()
		l.out.mu.Unlock()
		l.progress.remove(l)
		l.in.mu.Lock()
		l.in.forget()
		l.in.mu.Unlock()
		l.boot.Close() // tells the peer
		l.watcher.Wait()
		l.out.mu.Lock() // a push that found the link before it was removed
		l.seg.close()
		l.out.mu.Unlock()
	})
	return nil
}

// Traffic implements fabric.Link.
func (l *link) Traffic() fabric.Traffic {
	return fabric.Traffic{
		SentMessages: l.out.messages.Load() + l.shown.messages.Load(), SentBytes: l.out.bytes.Load() + l.shown.bytes.Load(),
		RecvMessages: l.in.messages.Load() + l.seen.messages.Load(), RecvBytes: l.in.bytes.Load() + l.seen.bytes.Load(),
	}
}
