package rdma

import (
	"context"

	"thundercollective/fabric"
)

// receiver is the receiving side of a link. It is guarded by Link.mu.
type receiver struct {
	side
	msg uint64 // number of the next message

	advertised bool // the peer may write to the caller's buffer
	advert     advert
	missing    uint32 // bit set of the rails whose last write has not arrived

	hasAnnounced bool
	announced    announcement
}

// receive receives the next message into b or, if f is not nil, passes it to f.
func (r *receiver) receive(ctx context.Context, tag *fabric.Tag, n int, b []byte, f func(off int, p []byte) error) error {
	l := r.l
	l.mu.Lock()
	defer l.mu.Unlock()
	r.begin(ctx)
	defer r.end()
	if err := r.fault(); err != nil {
		return r.quit(err)
	}
	open := n > l.plan.eager && l.rc && f == nil // b could be advertised
	got := 0
	for {
		if ln := r.nextPiece(); ln != nil {
			p := *ln.in.ready.front()
			if p.tag != *tag || p.len != uint64(n) {
				return r.quit(r.refuse(tag, n, p.tag, p.len))
			}
			ln.in.ready.pop()
			if err := r.take(ln, &p, b, f); err != nil {
				return r.quit(err)
			}
			if got += p.n; got == n {
				break
			}
			open = false
			continue
		}
		if r.advertised && r.missing == 0 {
			break
		}
		if err := r.fault(); err != nil {
			return r.quit(err)
		}
		if l.err != nil {
			if l.engine.poll(&r.side) {
				continue // what arrived before the end can be received
			}
			return r.quit(l.err)
		}
		if open && r.advertise(tag, b) {
			open = false
		}
		if err := r.answer(tag, n); err != nil {
			return r.quit(err)
		}
		l.engine.wait(&r.side)
	}
	r.advertised = false
	r.msg++
	l.traffic.Received(n)
	return nil
}

// nextPiece returns a lane whose first piece belongs to the next message; nil if there
// is none.
func (r *receiver) nextPiece() *lane {
	for _, ln := range r.l.lanes {
		if ln.in.ready.len() > 0 && ln.in.ready.front().msg == r.msg {
			return ln
		}
	}
	return nil
}

// take copies a piece to b or passes it to f, and frees its slot.
func (r *receiver) take(ln *lane, p *piece, b []byte, f func(off int, p []byte) error) (err error) {
	if p.off > p.len || uint64(p.n) > p.len-p.off {
		r.l.lose(errProtocol)
		return r.l.err
	}
	if p.n > 0 {
		payload := ln.rxSlot(p.slot)[headerSize : headerSize+p.n]
		r.l.mu.Unlock()
		if f == nil {
			r.l.stats.copied.Add(uint64(copy(b[p.off:], payload)))
		} else {
			err = f(int(p.off), payload)
		}
		r.l.mu.Lock()
	}
	ln.giveBack(p.slot)
	r.l.control.emit()
	return err
}

// answer answers an announcement: the sender is to use slots if nothing was advertised.
// It returns an error if the announced message is not the expected one.
func (r *receiver) answer(tag *fabric.Tag, n int) error {
	if !r.hasAnnounced || r.announced.msg != r.msg {
		return nil
	}
	r.hasAnnounced = false
	if r.announced.tag != *tag || r.announced.len != uint64(n) {
		return r.refuse(tag, n, r.announced.tag, r.announced.len)
	}
	if !r.advertised {
		r.l.control.next.slots = true
		r.l.control.emit()
	}
	return nil
}

// refuse returns the error for a message that is not the expected one.
func (r *receiver) refuse(want *fabric.Tag, n int, got fabric.Tag, gotLen uint64) error {
	return &fabric.TagError{Peer: r.l.peer, Want: *want, Got: got, WantLen: uint64(n), GotLen: gotLen}
}

// fault returns why nothing more can be received. The loss of the peer is not a reason:
// what it sent before is received first.
func (r *receiver) fault() error {
	switch {
	case r.l.closed:
		return fabric.ErrClosed
	case r.broken != nil:
		return r.broken
	}
	return r.cause()
}

// quit ends the receiving side. After it nothing writes to the caller's buffer.
func (r *receiver) quit(err error) error {
	if r.broken == nil {
		r.broken = err
	}
	if r.advertised {
		r.l.abandon()
		r.advertised = false
	}
	return err
}
