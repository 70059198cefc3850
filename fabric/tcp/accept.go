package tcp

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"thundercollective/fabric"
	"thundercollective/rendezvous/handshake"
)

// maxAtDoor is how many connections may be in the handshake at once; the oldest
// gives way to a newcomer, so that silent strangers cannot keep peers out.
const maxAtDoor = 256

// maxPending bounds the links that a peer may open before this rank wants them.
const maxPending = 4096

// accept takes connections until the listener is closed.
func (f *Fabric) accept(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			if f.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			// Out of descriptors or the like: let some go first.
			f.cfg.Logger.Warn("accept failed", "addr", ln.Addr().String(), "err", err)
			select {
			case <-time.After(retryMost):
			case <-f.ctx.Done():
			}
			continue
		}
		f.wg.Go(func() { f.greet(c.(*net.TCPConn)) })
	}
}

// greet lets a peer in and sends everybody else away.
func (f *Fabric) greet(c *net.TCPConn) {
	if !f.door.enter(c) {
		c.Close()
		return
	}
	c.SetDeadline(time.Now().Add(f.cfg.HandshakeTimeout))
	var p *pending
	var onward *net.TCPConn
	h, err := handshake.Accept(c, f.cfg.Token, func(h handshake.Hello) (err error) {
		if h.Purpose == handshake.PurposeRelay {
			onward, err = f.openRelay(h)
			return err
		}
		p, err = f.admit(h)
		return err
	})
	f.door.leave(c)
	if err != nil && onward != nil {
		f.relays.drop(onward)
	}
	if err == nil {
		c.SetDeadline(time.Time{})
		switch h.Purpose {
		case handshake.PurposeRelay:
			f.relays.join(c, onward)
			return
		case handshake.PurposeRail:
			f.cfg.OnRail(c, h)
			return
		}
		if p.add(c, int(h.Stream), int(h.Streams), f.builder(p.key)) {
			return
		}
		err = errors.New("the link is complete already")
	}
	c.Close()
	if f.ctx.Err() == nil {
		f.door.note(c.RemoteAddr().String(), err)
		f.cfg.Logger.Warn("connection refused", "from", c.RemoteAddr().String(), "err", err)
	}
}

// admit decides on an authenticated hello. It returns the link that the stream is
// for, nil if that is a link over rails, which are kept elsewhere.
func (f *Fabric) admit(h handshake.Hello) (*pending, error) {
	switch err := f.checkHello(h); {
	case err != nil:
		return nil, err
	case h.Purpose == handshake.PurposeRail && f.cfg.OnRail == nil:
		return nil, reject(handshake.Other, "rank %d has no second rail to rank %d; the ranks' address lists differ", f.cfg.Rank, h.From)
	case int(h.From) <= f.cfg.Rank || int(h.From) >= f.Size():
		return nil, reject(handshake.WrongRank, "rank %d does not dial rank %d", h.From, f.cfg.Rank)
	case h.Streams < 1 || h.Streams > MaxStreams || h.Stream >= h.Streams:
		return nil, reject(handshake.Other, "stream %d of %d makes no sense", h.Stream, h.Streams)
	case h.Purpose == handshake.PurposeRail:
		return nil, nil
	}
	k := linkKey{int(h.From), fabric.Channel(h.Channel)}
	p, _, err := f.pendingFor(k)
	if err != nil {
		return nil, reject(handshake.Busy, "%v", err)
	}
	if l := p.get(); l != nil {
		return nil, reject(handshake.DuplicateRank, "rank %d is connected already, from %s; start each rank once", h.From, l.addr)
	}
	return p, nil
}

// checkHello compares what all purposes have in common.
func (f *Fabric) checkHello(h handshake.Hello) error {
	switch {
	case h.Purpose == handshake.PurposeJoin:
		return reject(handshake.Other, "this is the data port of rank %d, not a coordinator", f.cfg.Rank)
	case int(h.Size) != f.Size():
		return reject(handshake.WrongSize, "rank %d was started with world size %d, rank %d with %d", f.cfg.Rank, f.Size(), h.From, h.Size)
	case h.Generation != f.cfg.Generation:
		return reject(handshake.WrongGeneration, "rank %d is of generation %d, rank %d of %d", f.cfg.Rank, f.cfg.Generation, h.From, h.Generation)
	case int(h.To) != f.cfg.Rank:
		return reject(handshake.WrongRank, "this is rank %d, not rank %d; the ranks' address lists differ", f.cfg.Rank, h.To)
	}
	return nil
}

// reject is the refusal of an authenticated peer.
func reject(code handshake.Code, format string, args ...any) error {
	return &handshake.RejectedError{Code: code, Text: fmt.Sprintf(format, args...)}
}

// pendingFor is pending with a bound on what peers may leave lying around.
func (f *Fabric) pendingFor(k linkKey) (*pending, bool, error) {
	f.mu.Lock()
	n := len(f.links)
	f.mu.Unlock()
	if n >= maxPending*f.Size() {
		return nil, false, fmt.Errorf("%d links are open", n)
	}
	return f.pending(k)
}

// door keeps the connections that are in the handshake.
type door struct {
	mu     sync.Mutex
	conns  []*net.TCPConn // oldest first
	closed bool
	failed int    // connections sent away
	auth   bool   // last is about a token that differs
	last   string // the last of them, and why
}

// enter is false once the fabric is closing.
func (d *door) enter(c *net.TCPConn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	if len(d.conns) >= maxAtDoor {
		d.conns[0].Close() // its handshake fails and leaves
		d.conns = d.conns[1:]
	}
	d.conns = append(d.conns, c)
	return true
}

func (d *door) leave(c *net.TCPConn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, have := range d.conns {
		if have == c {
			d.conns = append(d.conns[:i], d.conns[i+1:]...)
			return
		}
	}
}

// note remembers a failure for the error of whoever waits in vain. That a token
// differs is worth more than the broken connections that come with it.
func (d *door) note(from string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed++
	var auth *handshake.AuthError
	if isAuth := errors.As(err, &auth); isAuth {
		d.auth = true
	} else if d.auth {
		return
	}
	d.last = fmt.Sprintf("from %s: %v", from, err)
}

// troubles describes the refused connections, if there were any.
func (d *door) troubles() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d refused, the last %s)", d.failed, d.last)
}

// shut ends all handshakes.
func (d *door) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, c := range d.conns {
		c.Close()
	}
}
