package mem

import (
	"context"
	"sync"
	"sync/atomic"

	"thundercollective/fabric"
)

// link is one rank's end of the two wires to a peer.
type link struct {
	peer    int
	out, in *wire

	posted *slot // long message of Post that the peer has not taken yet
	// A message Post could not place because the queue was full.
	waitTag *fabric.Tag
	waitBuf []byte

	sendBroken, recvBroken error // set and read by the side's only user

	sentMsgs, sentBytes, recvMsgs, recvBytes atomic.Uint64

	closeOnce sync.Once
	gone      chan struct{} // closed by Close
}

// lost says why a cut wire was cut: by us, or by the peer.
func (l *link) lost() error {
	select {
	case <-l.gone:
		return fabric.ErrClosed
	default:
		return &fabric.LostError{Peer: l.peer, Err: errGone}
	}
}

// Send implements fabric.Link.
func (l *link) Send(ctx context.Context, tag *fabric.Tag, b []byte) error {
	done, err := l.Post(tag, b)
	if err != nil || done {
		return err
	}
	return l.Flush(ctx)
}

// Post implements fabric.Poster.
func (l *link) Post(tag *fabric.Tag, b []byte) (bool, error) {
	if err := l.sendable(); err != nil {
		return false, err
	}
	s := l.out.put(tag, b)
	if s == nil {
		l.waitTag, l.waitBuf = tag, b
		return false, nil
	}
	l.sentMsgs.Add(1)
	l.sentBytes.Add(uint64(len(b)))
	if len(b) <= inline {
		return true, nil
	}
	l.posted = s
	return false, nil
}

func (l *link) sendable() error {
	if l.sendBroken != nil {
		return l.sendBroken
	}
	select {
	case <-l.out.isCut:
		l.sendBroken = l.lost()
	default:
	}
	return l.sendBroken
}

// Flush implements fabric.Poster.
func (l *link) Flush(ctx context.Context) error {
	for {
		if l.waitTag != nil {
			tag, b := l.waitTag, l.waitBuf
			l.waitTag, l.waitBuf = nil, nil
			if done, err := l.Post(tag, b); err != nil || done {
				return err
			}
		}
		if l.waitTag == nil && (l.posted == nil || l.posted.state.Load() == free) {
			l.posted = nil
			return nil
		}
		select {
		case <-l.out.taken:
		case <-ctx.Done():
			return l.giveUp(context.Cause(ctx))
		case <-l.out.isCut:
			return l.giveUp(l.lost())
		}
	}
}

// giveUp takes a message back that the peer has not begun to read; when it has,
// it waits for the end of that, since the buffer is the caller's.
func (l *link) giveUp(err error) error {
	l.sendBroken = err
	l.waitTag, l.waitBuf = nil, nil
	for s := l.posted; s != nil && !s.state.CompareAndSwap(ready, withdrawn) && s.state.Load() == taking; {
		<-l.out.taken
	}
	l.posted = nil
	l.out.cut()
	return err
}

// Recv implements fabric.Link.
func (l *link) Recv(ctx context.Context, tag *fabric.Tag, b []byte) error {
	s, err := l.take(ctx, tag, len(b))
	if err != nil {
		return err
	}
	copy(b, s.ref)
	l.in.release(s)
	return nil
}

// RecvFunc implements fabric.Link: one piece, the sender's own buffer.
func (l *link) RecvFunc(ctx context.Context, tag *fabric.Tag, n int, f func(off int, p []byte) error) error {
	s, err := l.take(ctx, tag, n)
	if err != nil {
		return err
	}
	if n > 0 {
		err = f(0, s.ref)
	}
	l.in.release(s)
	if err != nil {
		l.recvBroken = err
	}
	return err
}

// take waits for the next message and claims it when it is the expected one.
func (l *link) take(ctx context.Context, tag *fabric.Tag, n int) (*slot, error) {
	if l.recvBroken != nil {
		return nil, l.recvBroken
	}
	s := l.in.next()
	for s == nil {
		select {
		case <-l.in.sent:
			s = l.in.next()
		case <-ctx.Done():
			return nil, l.breakRecv(context.Cause(ctx))
		case <-l.in.isCut:
			// What was sent before the cut is still ours.
			if s = l.in.next(); s == nil {
				return nil, l.breakRecv(l.lost())
			}
		}
	}
	if s.tag != *tag || len(s.ref) != n {
		err := &fabric.TagError{Peer: l.peer, Want: *tag, Got: s.tag, WantLen: uint64(n), GotLen: uint64(len(s.ref))}
		l.in.release(s)
		return nil, l.breakRecv(err)
	}
	l.recvMsgs.Add(1)
	l.recvBytes.Add(uint64(n))
	return s, nil
}

func (l *link) breakRecv(err error) error {
	l.recvBroken = err
	return err
}

// Close implements fabric.Link.
func (l *link) Close() error {
	l.closeOnce.Do(func() {
		close(l.gone)
		l.out.cut()
		l.in.cut()
	})
	return nil
}

// Traffic implements fabric.Counter.
func (l *link) Traffic() fabric.Traffic {
	return fabric.Traffic{
		SentMessages: l.sentMsgs.Load(), SentBytes: l.sentBytes.Load(),
		RecvMessages: l.recvMsgs.Load(), RecvBytes: l.recvBytes.Load(),
	}
}
