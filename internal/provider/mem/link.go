package mem

import (
	"context"
	"errors"
	"sync"

	"thundercollective/fabric"
	"thundercollective/internal/traffic"
)

var _ fabric.Link = (*link)(nil)

// link is one rank's end of the two wires to a peer.
type link struct {
	peer    int
	out, in *wire

	sendBroken, recvBroken error // set and read by the side's only user

	traffic traffic.Counter

	closeOnce sync.Once
	closed    chan struct{}
}

func newLink(peer int, out, in *wire) *link {
	return &link{peer: peer, out: out, in: in, closed: make(chan struct{})}
}

// lost returns why a wire was cut: by this end, or by the peer.
func (l *link) lost() error {
	select {
	case <-l.closed:
		return fabric.ErrClosed
	default:
		return &fabric.LostError{Peer: l.peer, Err: errGone}
	}
}

// Post implements fabric.Link.
func (l *link) Post(tag *fabric.Tag, b []byte) (bool, error) {
	if l.sendBroken != nil {
		return false, l.sendBroken
	}
	select {
	case <-l.out.isCut:
		return false, l.giveUp(l.lost())
	default:
	}
	done, ok := l.out.put(tag, b)
	if !ok {
		return false, l.giveUp(l.lost())
	}
	l.traffic.Sent(len(b))
	return done, nil
}

// Await implements fabric.Link.
func (l *link) Await(ctx context.Context, left int) error {
	for l.sendBroken == nil && l.out.outstanding() > left {
		select {
		case <-l.out.taken:
		case <-ctx.Done():
			return l.giveUp(context.Cause(ctx))
		case <-l.out.isCut:
			return l.giveUp(l.lost())
		}
	}
	return l.sendBroken
}

// giveUp ends the sending side and takes its buffers back.
func (l *link) giveUp(err error) error {
	l.sendBroken = err
	l.takeBack()
	l.out.cut()
	return err
}

// takeBack takes back the messages that the peer has not begun to read. When it has begun
// to read one, takeBack waits for the end of that, since the buffer is the caller's.
func (l *link) takeBack() {
	for !l.out.withdraw() {
		<-l.out.taken
	}
	wake(l.out.taken) // there may be another one who takes back
}

// Recv implements fabric.Link.
func (l *link) Recv(ctx context.Context, tag *fabric.Tag, b []byte) error {
	m, err := l.next(ctx, tag, len(b))
	if err != nil {
		return err
	}
	copy(b, m.buf)
	l.in.release()
	return nil
}

// RecvFunc implements fabric.Link: one piece, the sender's own buffer.
func (l *link) RecvFunc(ctx context.Context, tag *fabric.Tag, n int, f func(off int, p []byte) error) error {
	m, err := l.next(ctx, tag, n)
	if err != nil {
		return err
	}
	if n > 0 {
		err = f(0, m.buf)
	}
	l.in.release()
	if err != nil {
		l.recvBroken = err
	}
	return err
}

// Take implements fabric.Link.
func (l *link) Take(context.Context, *fabric.Tag, int) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// Borrow implements fabric.Link.
func (l *link) Borrow() int { return -1 }

// next waits for the next message, which is to be released if it is the expected one.
func (l *link) next(ctx context.Context, tag *fabric.Tag, n int) (message, error) {
	if l.recvBroken != nil {
		return message{}, l.recvBroken
	}
	m, ok := l.in.next()
	for !ok {
		select {
		case <-l.in.sent:
			m, ok = l.in.next()
		case <-ctx.Done():
			return m, l.breakRecv(context.Cause(ctx))
		case <-l.in.isCut:
			// What was sent before the cut is still ours.
			if m, ok = l.in.next(); !ok {
				return m, l.breakRecv(l.lost())
			}
		}
	}
	if m.tag != *tag || len(m.buf) != n {
		l.in.release()
		return m, l.breakRecv(&fabric.TagError{Peer: l.peer, Want: *tag, Got: m.tag, WantLen: uint64(n), GotLen: uint64(len(m.buf))})
	}
	l.traffic.Received(n)
	return m, nil
}

func (l *link) breakRecv(err error) error {
	l.recvBroken = err
	return err
}

// Close implements fabric.Link.
func (l *link) Close() error {
	l.closeOnce.Do(func() {
		close(l.closed)
		l.out.cut()
		l.in.cut()
		l.takeBack()
	})
	return nil
}

// Traffic implements fabric.Link.
func (l *link) Traffic() fabric.Traffic { return l.traffic.Read() }
