package simnet

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"thundercollective/fabric"
)

// A pipe is one direction of a connection. It is guarded by Net.mu.
type pipe struct {
	net     *Net
	key     pipeKey
	queue   []message
	err     error // why nothing more can be sent
	changed chan struct{}
}

type message struct {
	tag  fabric.Tag
	data []byte
	at   time.Time // when it arrives, unless it is held back
}

// wake wakes the receivers that wait.
func (p *pipe) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// fail breaks the pipe and discards what is under way.
func (p *pipe) fail(err error) {
	p.queue = nil
	p.finish(err)
}

// finish makes further sends fail.
func (p *pipe) finish(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *pipe) put(tag *fabric.Tag, b []byte) error {
	n := p.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	w := &n.ways[p.key.from*n.size+p.key.to]
	m := message{tag: *tag, data: bytes.Clone(b), at: time.Now().Add(w.delay)}
	if w.corrupt {
		w.corrupt = false
		m.tag[0] ^= 0x40
	}
	p.queue = append(p.queue, m)
	p.wake()
	return nil
}

// next returns the next message if it has arrived, and otherwise what to wait for.
func (p *pipe) next() (m message, ok bool, changed chan struct{}, wait time.Duration, err error) {
	n := p.net
	n.mu.Lock()
	defer n.mu.Unlock()
	held := n.ways[p.key.from*n.size+p.key.to].cut > 0
	switch {
	case len(p.queue) > 0 && !held:
		if wait = time.Until(p.queue[0].at); wait <= 0 {
			m = p.queue[0]
			p.queue = p.queue[1:]
			return m, true, nil, 0, nil
		}
		return m, false, p.changed, wait, nil
	case p.err != nil && !held:
		return m, false, nil, 0, p.err
	}
	return m, false, p.changed, -1, nil
}

var _ fabric.Link = (*link)(nil)

// link is one end of a connection.
type link struct {
	peer       int
	out, in    *pipe
	closed     atomic.Bool
	recvBroken error
}

// lost returns the error of the link for an error of a pipe.
func (l *link) lost(err error) error {
	if l.closed.Load() {
		return fabric.ErrClosed
	}
	return &fabric.LostError{Peer: l.peer, Err: err}
}

// Post implements fabric.Link. The network has room for everything.
func (l *link) Post(tag *fabric.Tag, b []byte) (bool, error) {
	if err := l.out.put(tag, b); err != nil {
		return false, l.lost(err)
	}
	return true, nil
}

// Await implements fabric.Link.
func (l *link) Await(context.Context, int) error { return nil }

// Take implements fabric.Link.
func (l *link) Take(context.Context, *fabric.Tag, int) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// Borrow implements fabric.Link.
func (l *link) Borrow() int { return -1 }

// Traffic implements fabric.Link.
func (l *link) Traffic() fabric.Traffic { return fabric.Traffic{} }

// Recv implements fabric.Link.
func (l *link) Recv(ctx context.Context, tag *fabric.Tag, b []byte) error {
	return l.RecvFunc(ctx, tag, len(b), func(off int, p []byte) error { copy(b[off:], p); return nil })
}

// RecvFunc implements fabric.Link.
func (l *link) RecvFunc(ctx context.Context, tag *fabric.Tag, n int, f func(off int, p []byte) error) error {
	if l.recvBroken != nil {
		return l.recvBroken
	}
	err := l.receive(ctx, tag, n, f)
	l.recvBroken = err
	return err
}

func (l *link) receive(ctx context.Context, tag *fabric.Tag, n int, f func(off int, p []byte) error) error {
	for {
		m, ok, changed, wait, err := l.in.next()
		switch {
		case err != nil:
			return l.lost(err)
		case ok && (m.tag != *tag || len(m.data) != n):
			return &fabric.TagError{Peer: l.peer, Want: *tag, Got: m.tag, WantLen: uint64(n), GotLen: uint64(len(m.data))}
		case ok && n > 0:
			return f(0, m.data)
		case ok:
			return nil
		}
		var arrival <-chan time.Time
		if wait > 0 {
			arrival = time.After(wait)
		}
		select {
		case <-changed:
		case <-arrival:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close implements fabric.Link.
func (l *link) Close() error {
	if l.closed.Swap(true) {
		return nil
	}
	n := l.out.net
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range []*pipe{l.out, l.in} {
		p.finish(ErrReset)
		p.wake()
	}
	return nil
}
