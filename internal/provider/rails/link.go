package rails

import (
	"context"
	"errors"
	"sync"

	"thundercollective/fabric"
	"thundercollective/internal/sendqueue"
	"thundercollective/internal/traffic"
)

var _ fabric.Link = (*link)(nil)

// link is one rank's end of the streams to a peer on one channel. It implements
// fabric.Link; its parts do the work:
//
//	sender     cuts messages into segments and keeps each until it has arrived
//	receiver   puts segments in order and grants the peer room for more
//	streamSet  holds the streams and picks the one that carries the next segment
//	opener     opens streams, and reopens lost ones, while the link is wanted
//
// mu guards the link, all its parts, and the streams except for what their reader and
// writer goroutines own. It is locked before rail.mu.
type link struct {
	f     *Fabric
	peer  int
	ch    fabric.Channel
	later *sendqueue.Queue // messages that Post could not queue whole

	mu     sync.Mutex
	stock  stock
	closed bool  // by Close
	lost   error // set when no stream is left

	givenUp bool // by GiveUp

	out     sender
	in      receiver
	streams streamSet
	opener  opener

	traffic traffic.Counter
}

func newLink(f *Fabric, peer int, ch fabric.Channel) *link {
	l := &link{f: f, peer: peer, ch: ch}
	l.out = sender{side: newSide(l), credit: maxSegments}
	l.in = receiver{side: newSide(l), granted: maxSegments}
	l.streams = newStreamSet(l)
	l.opener = newOpener(l)
	l.later = sendqueue.New(l.out.transmit)
	return l
}

// Post implements fabric.Link.
func (l *link) Post(tag *fabric.Tag, b []byte) (bool, error) {
	idle, err := l.later.Idle()
	if err != nil {
		return false, err
	}
	if !idle || len(b) > sendqueue.PostMost {
		return false, l.later.Add(tag, b, false)
	}
	if done, err := l.out.post(tag, b); done || err != nil {
		return done, err
	}
	return false, l.later.Add(tag, b, true)
}

// Await implements fabric.Link.
func (l *link) Await(ctx context.Context, left int) error {
	if idle, err := l.later.Idle(); err != nil {
		return err
	} else if idle {
		return l.out.usable()
	}
	return l.later.Await(ctx, left)
}

// Take implements fabric.Link.
func (l *link) Take(context.Context, *fabric.Tag, int) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// Borrow implements fabric.Link.
func (l *link) Borrow() int { return -1 }

// Recv implements fabric.Link.
func (l *link) Recv(ctx context.Context, tag *fabric.Tag, b []byte) error {
	return l.in.receive(ctx, tag, len(b), b, nil)
}

// RecvFunc implements fabric.Link.
func (l *link) RecvFunc(ctx context.Context, tag *fabric.Tag, n int, f func(off int, p []byte) error) error {
	return l.in.receive(ctx, tag, n, nil, f)
}

// Close implements fabric.Link. What was sent is delivered in the background;
// Fabric.Close waits for that.
func (l *link) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.opener.finish()
	l.in.close()
	l.out.close()
	if l.streams.live > 0 {
		l.f.wg.Go(l.drain)
	}
	l.mu.Unlock()
	l.later.Close()
	return nil
}

// Traffic implements fabric.Link.
func (l *link) Traffic() fabric.Traffic { return l.traffic.Read() }

// dials reports whether this end opens the streams.
func (l *link) dials() bool { return l.peer < l.f.Rank() }

// lostError returns the error for a peer that is gone.
func (l *link) lostError(cause error) error {
	return &fabric.LostError{Peer: l.peer, Addr: l.f.describe(l.peer), Err: cause}
}
