package tcp

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"thundercollective/fabric"
	"thundercollective/internal/ctxwatch"
	"thundercollective/internal/linktable"
	"thundercollective/internal/publish"
	"thundercollective/internal/sendqueue"
	"thundercollective/internal/spin"
)

const (
	// stageSize bounds a stream's staging buffer; it is meant to stay in the
	// second-level cache together with the data it is reduced into.
	stageSize = 256 << 10
)

var _ fabric.Link = (*link)(nil)

// link is one rank's end of the streams to a peer.
type link struct {
	peer    int
	addr    string
	streams []*stream
	sums    bool        // payloads carry checksums
	face    fabric.Link // this link, or what it is in users' hands
	send    side
	recv    side
	later   *sendqueue.Queue // what Post could not send at once; nil for a solo

	hiring    sync.Mutex // makes closing and hiring exclude each other
	closed    atomic.Bool
	closeOnce sync.Once
	workers   sync.WaitGroup // of both sides; see stripe.go
	quit      chan struct{}  // ends the workers

	// Each side has one user at a time, who counts.
	sentMsgs, sentBytes, recvMsgs, recvBytes atomic.Uint64
}

// A side is what sending and receiving each have of their own.
type side struct {
	watch  ctxwatch.Interrupter
	broken error            // why the side is unusable; its user's only
	header [headerSize]byte // being written or read
	crew   []*worker        // one per stream beyond the first, made on first use
	cause  atomic.Pointer[error]
	// What Post has left of the message under way: the rest of header and payload.
	restHeader, restPayload []byte
}

// builder returns what makes a link out of its connections.
func (f *Fabric) builder(k linktable.Key) func([]*net.TCPConn) *link {
	return func(conns []*net.TCPConn) *link {
		l := &link{peer: k.Peer, addr: conns[0].RemoteAddr().String(), quit: make(chan struct{}), sums: f.cfg.Checksum}
		wait, open := spin.Spinner{Budget: f.cfg.Spin, Shared: f.cfg.Crowded}, newSocket
		if quiet(k.Channel) {
			wait, open = spin.Spinner{}, newPlainSocket
		}
		for _, c := range conns {
			sock, err := open(c)
			if err != nil {
				c.Close()
				l.send.broken, l.recv.broken = l.lost(err), l.lost(err)
				continue
			}
			s := newStream(sock, wait)
			s.sums = l.sums
			l.streams = append(l.streams, s)
		}
		l.send.watch.Interrupt = func(why error) {
			stop := why != nil
			for _, s := range l.streams {
				s.out.stopped.Store(stop)
				s.sock.interruptWrite(stop)
			}
		}
		l.recv.watch.Interrupt = func(why error) {
			stop := why != nil
			for _, s := range l.streams {
				s.in.stopped.Store(stop)
				s.sock.interruptRead(stop)
			}
		}
		l.face = l
		if s := f.newSolo(l, k.Channel); s != nil {
			l.face = s
		} else {
			l.later = sendqueue.New(l.transmit)
		}
		return l
	}
}

// quiet reports whether a channel carries little, and nothing that is urgent.
func quiet(ch fabric.Channel) bool { return ch == fabric.Control || ch >= fabric.ProviderChannels }

func (l *link) lost(err error) error {
	return &fabric.LostError{Peer: l.peer, Addr: l.addr, Err: err}
}

// usable returns why a side is unusable, nil if it is not.
func (l *link) usable(s *side) error {
	if s.broken == nil && l.closed.Load() {
		s.broken = fabric.ErrClosed
	}
	return s.broken
}

// begin prepares a call on one side.
func (l *link) begin(ctx context.Context, s *side) error {
	if err := l.usable(s); err != nil {
		return err
	}
	if err := s.watch.Begin(ctx); err != nil {
		s.broken = err
		return err
	}
	return nil
}

// end closes a call. An error of the operating system becomes what it means: the
// context's cause, our own Close, or a lost peer.
func (l *link) end(ctx context.Context, s *side, err error) error {
	s.watch.End()
	if err == nil {
		return nil
	}
	var socket *socketError
	var corrupt *fabric.CorruptError
	switch {
	case l.closed.Load():
		err = fabric.ErrClosed
	case errors.As(err, &corrupt):
		err = l.lost(corrupt)
	case !errors.As(err, &socket): // of a callback, or a refused message
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	default:
		err = l.lost(socket.err)
	}
	s.broken = err
	return err
}

// Post implements fabric.Link.
func (l *link) Post(tag *fabric.Tag, b []byte) (bool, error) {
	idle, err := l.later.Idle()
	if err == nil && idle {
		err = l.usable(&l.send)
	}
	if err != nil {
		return false, err
	}
	if !idle || len(b) > sendqueue.PostMost {
		return false, l.later.Add(tag, b, false)
	}
	s := &l.send
	l.load(tag, b)
	n, err := l.streams[0].write(s.restHeader, s.restPayload, false)
	if err != nil {
		return false, l.end(context.Background(), s, err)
	}
	s.restHeader, s.restPayload = advance(s.restHeader, s.restPayload, n)
	if len(s.restHeader)+len(s.restPayload) > 0 {
		return false, l.later.Add(tag, b, true)
	}
	l.count(len(b))
	return true, nil
}

// load makes a message the one under way.
func (l *link) load(tag *fabric.Tag, b []byte) {
	frame(&l.send.header, tag, len(b), l.sumOf(b))
	l.send.restHeader, l.send.restPayload = l.send.header[:], b
}

// transmit sends what is left of a message, for the queue.
func (l *link) transmit(ctx context.Context, m *sendqueue.Message) error {
	s := &l.send
	if err := l.begin(ctx, s); err != nil {
		return err
	}
	if !m.Begun {
		l.load(&m.Tag, m.Buf)
	}
	var err error
	if l.striped(len(m.Buf)) {
		err = l.sendStriped(m.Buf)
	} else {
		err = l.streams[0].writeAll(s.restHeader, s.restPayload)
	}
	s.restHeader, s.restPayload = nil, nil
	if err == nil {
		l.count(len(m.Buf))
	}
	return l.end(ctx, s, err)
}

func (l *link) count(n int) {
	publish.Add(&l.sentMsgs, 1)
	publish.Add(&l.sentBytes, uint64(n))
}

// Await implements fabric.Link.
func (l *link) Await(ctx context.Context, left int) error {
	if idle, err := l.later.Idle(); err != nil {
		return err
	} else if idle {
		return l.usable(&l.send)
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
	return l.receive(ctx, tag, len(b), sink{buf: b})
}

// RecvFunc implements fabric.Link.
func (l *link) RecvFunc(ctx context.Context, tag *fabric.Tag, n int, f func(off int, p []byte) error) error {
	return l.receive(ctx, tag, n, sink{f: f})
}

func (l *link) receive(ctx context.Context, tag *fabric.Tag, n int, to sink) error {
	if err := l.begin(ctx, &l.recv); err != nil {
		return err
	}
	var err error
	if l.striped(n) {
		err = l.recvStriped(tag, n, to)
	} else {
		var got int
		if got, err = l.recvHeader(tag, n, n, to); err == nil {
			err = l.rest(to, n, got)
		}
	}
	if err == nil {
		publish.Add(&l.recvMsgs, 1)
		publish.Add(&l.recvBytes, uint64(n))
	}
	return l.end(ctx, &l.recv, err)
}

// Close implements fabric.Link.
func (l *link) Close() error {
	l.closeOnce.Do(func() {
		l.hiring.Lock()
		l.closed.Store(true)
		l.hiring.Unlock()
		l.send.watch.Stop()
		l.recv.watch.Stop()
		for _, s := range l.streams {
			s.in.stopped.Store(true)
			s.sock.Close()
		}
		close(l.quit)
		if l.later != nil {
			l.later.Close()
		}
		l.workers.Wait()
	})
	return nil
}

// Traffic implements fabric.Link.
func (l *link) Traffic() fabric.Traffic {
	return fabric.Traffic{
		SentMessages: l.sentMsgs.Load(), SentBytes: l.sentBytes.Load(),
		RecvMessages: l.recvMsgs.Load(), RecvBytes: l.recvBytes.Load(),
	}
}
