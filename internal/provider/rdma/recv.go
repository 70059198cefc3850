package rdma

import (
	"context"

	"thundercollective/fabric"
)

// receiver is the receiving side of a link, guarded by Link.mu.
type receiver struct {
	side
	msg uint64 // number of the next message

	advertised bool // the caller's buffer is open to the peer
	advert     advert
	missing    uint32 // rails, by bit, whose last write has not come

	hasAnnounced bool
	announced    announcement
}

// Recv implements fabric.Link.
func (l *Link) Recv(ctx context.Context, tag *fabric.Tag, b []byte) error {
	return l.receive(ctx, tag, len(b), b, nil)
}

// RecvFunc implements fabric.Link. The pieces are the slots that the device wrote.
func (l *Link) RecvFunc(ctx context.Context, tag *fabric.Tag, n int, f func(off int, p []byte) error) error {
	return l.receive(ctx, tag, n, nil, f)
}

// receive takes the next message, into b or, if f is not nil, through f.
func (l *Link) receive(ctx context.Context, tag *fabric.Tag, n int, b []byte, f func(off int, p []byte) error) error {
	r := &l.fromPeer
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begin(&r.side, ctx)
	defer l.end(&r.side)
	if err := l.recvFault(); err != nil {
		return l.quitRecv(err)
	}
	open := n > l.plan.eager && l.rc && f == nil // b could be advertised
	got := 0
	for {
		if ln := l.nextPiece(); ln != nil {
			p := *ln.ready.front()
			if p.tag != *tag || p.len != uint64(n) {
				return l.quitRecv(l.refuse(tag, n, p.tag, p.len))
			}
			ln.ready.pop()
			if err := l.take(ln, &p, b, f); err != nil {
				return l.quitRecv(err)
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
		if err := l.recvFault(); err != nil {
			return l.quitRecv(err)
		}
		if l.err != nil {
			if l.poll(&r.side) {
				continue // what came before the end is still ours
			}
			return l.quitRecv(l.err)
		}
		if open && l.advertise(tag, b) {
			open = false
		}
		if err := l.answer(tag, n); err != nil {
			return l.quitRecv(err)
		}
		l.wait(&r.side)
	}
	r.advertised = false
	r.msg++
	l.recvMsgs.Add(1)
	l.recvBytes.Add(uint64(n))
	return nil
}

// nextPiece finds a lane whose first piece belongs to the message that is next.
func (l *Link) nextPiece() *lane {
	for _, ln := range l.lanes {
		if ln.ready.len() > 0 && ln.ready.front().msg == l.fromPeer.msg {
			return ln
		}
	}
	return nil
}

// take hands a piece out and gives its slot back.
func (l *Link) take(ln *lane, p *piece, b []byte, f func(off int, p []byte) error) (err error) {
	if p.off > p.len || uint64(p.n) > p.len-p.off {
		l.lose(errProtocol)
		return l.err
	}
	if p.n > 0 {
		payload := ln.rxSlot(p.slot)[headerSize : headerSize+p.n]
		l.mu.Unlock()
		if f == nil {
			l.copied.Add(uint64(copy(b[p.off:], payload)))
		} else {
			err = f(int(p.off), payload)
		}
		l.mu.Lock()
	}
	l.giveBack(ln, p.slot)
	l.emit()
	return err
}

// answer reacts to a sender that waits to be told how to send: with slots, if
// nothing was advertised, or with an error if its message is not the expected one.
func (l *Link) answer(tag *fabric.Tag, n int) error {
	r := &l.fromPeer
	if !r.hasAnnounced || r.announced.msg != r.msg {
		return nil
	}
	r.hasAnnounced = false
	if r.announced.tag != *tag || r.announced.len != uint64(n) {
		return l.refuse(tag, n, r.announced.tag, r.announced.len)
	}
	if !r.advertised {
		l.out.slots = true
		l.emit()
	}
	return nil
}

func (l *Link) refuse(want *fabric.Tag, n int, got fabric.Tag, gotLen uint64) error {
	return &fabric.TagError{Peer: l.peer, Want: *want, Got: got, WantLen: uint64(n), GotLen: gotLen}
}

// recvFault says why nothing more can be received, the peer's end apart: what it
// sent before is received first.
func (l *Link) recvFault() error {
	r := &l.fromPeer
	switch {
	case l.closed:
		return fabric.ErrClosed
	case r.broken != nil:
		return r.broken
	}
	return r.cause()
}

// quitRecv ends the receiving side. Nothing writes to the caller's buffer after it.
func (l *Link) quitRecv(err error) error {
	r := &l.fromPeer
	if r.broken == nil {
		r.broken = err
	}
	if r.advertised {
		l.abandon()
		r.advertised = false
	}
	return err
}
