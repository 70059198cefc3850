package rdma

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/traffic"
)

var _ fabric.Link = (*Link)(nil)

// Link is a path to one peer over one or more rails. It implements fabric.Link. Its parts
// do the work:
//
//	sender    sends messages from their callers' buffers
//	receiver  receives the message that a caller waits for
//	lane      one queue pair: its slots, credit, acknowledgements and repair
//	control   sends and reads control messages
//	engine    handles completions, by polling and by events, and timeouts
//
// A call does the work itself: it polls the completion queues and acts on every
// completion, for both directions. While no call is under way, an event wakes a
// goroutine of the rail where necessary.
//
// mu guards the link and all its parts. It is never held together with Fabric.mu.
type Link struct {
	f    *Fabric
	peer int
	boot fabric.Link // sets up the link, carries the goodbye, reports the peer's death
	plan *plan
	rc   bool // the devices are reliable

	mu     sync.Mutex
	rails  []*rail
	lanes  []*lane
	err    error // why the link is over; nil while it works
	closed bool  // by Close
	torn   bool  // the devices' objects are released
	busy   int   // calls under way
	left   *sync.Cond
	heard  time.Time // when something last arrived, on unreliable devices

	toPeer   sender
	fromPeer receiver
	control  control
	engine   engine

	wg      sync.WaitGroup
	ended   chan struct{} // closed when everything is released
	traffic traffic.Counter
	stats   stats
}

// stats are counters for tests; they need no lock.
type stats struct {
	copied           atomic.Uint64 // payload bytes, at this end
	repeats, damaged atomic.Uint64 // messages, on unreliable devices
}

// newLink returns a link that has no rails yet.
func (f *Fabric) newLink(peer int, boot fabric.Link, p *plan) *Link {
	l := &Link{f: f, peer: peer, boot: boot, plan: p, rc: p.rc, ended: make(chan struct{})}
	l.left = sync.NewCond(&l.mu)
	l.toPeer.side.init(l)
	l.fromPeer.side.init(l)
	l.control = newControl(l)
	l.engine = newEngine(l)
	return l
}

// Post implements fabric.Link.
func (l *Link) Post(tag *fabric.Tag, b []byte) (bool, error) { return l.toPeer.post(tag, b) }

// Await implements fabric.Link. Posted messages make progress even while no call is
// under way.
func (l *Link) Await(ctx context.Context, left int) error { return l.toPeer.await(ctx, left) }

// Recv implements fabric.Link.
func (l *Link) Recv(ctx context.Context, tag *fabric.Tag, b []byte) error {
	return l.fromPeer.receive(ctx, tag, len(b), b, nil)
}

// RecvFunc implements fabric.Link. The pieces are slots that the device has written.
func (l *Link) RecvFunc(ctx context.Context, tag *fabric.Tag, n int, f func(off int, p []byte) error) error {
	return l.fromPeer.receive(ctx, tag, n, nil, f)
}

// Close implements fabric.Link. It delivers what was sent and releases the devices in
// the background; Fabric.Close waits for that.
func (l *Link) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	l.toPeer.notify()
	l.fromPeer.notify()
	go l.finish()
	return nil
}

// Take implements fabric.Link.
func (l *Link) Take(context.Context, *fabric.Tag, int) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// Borrow implements fabric.Link.
func (l *Link) Borrow() int { return -1 }

// Traffic implements fabric.Link.
func (l *Link) Traffic() fabric.Traffic { return l.traffic.Read() }
