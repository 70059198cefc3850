package tcp

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"thundercollective/fabric"
	"thundercollective/internal/publish"
	"thundercollective/internal/spin"
)

const (
	// stageSize bounds a stream's staging buffer; it is meant to stay in the
	// second-level cache together with the data it is reduced into.
	stageSize = 256 << 10
)

// link is one rank's end of the streams to a peer.
type link struct {
	peer    int
	addr    string
	streams []*stream
	sums    bool        // payloads carry checksums
	face    fabric.Link // this link, or what it is in users' hands
	send    side
	recv    side

	hiring    sync.Mutex // makes closing and hiring exclude each other
	closed    atomic.Bool
	closeOnce sync.Once
	workers   sync.WaitGroup // of both sides; see stripe.go
	quit      chan struct{}  // ends the workers

	// Each side has one user at a time, who counts.
	sentMsgs, sentBytes, recvMsgs, recvBytes atomic.Uint64
}

// side is what Send and Recv each have of their own.
type side struct {
	watch  watch
	broken error            // why the side is of no more use; its user's only
	header [headerSize]byte // being written or read
	crew   []*worker        // one per stream beyond the first, made on first use
	cause  atomic.Pointer[error]
	// What Post has left to Flush: the rest of header and payload.
	restHeader, restPayload []byte
}

// builder returns what makes a link out of its connections.
func (f *Fabric) builder(k linkKey) func([]*net.TCPConn) *link {
	return func(conns []*net.TCPConn) *link {
		l := &link{peer: k.peer, addr: conns[0].RemoteAddr().String(), quit: make(chan struct{}), sums: f.cfg.Checksum}
		wait, open := spin.Spinner{Budget: f.cfg.Spin, Shared: f.cfg.Crowded}, newSocket
		if quiet(k.ch) {
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
		l.send.watch.interrupt = func(stop bool) {
			for _, s := range l.streams {
				s.out.stopped.Store(stop)
				s.sock.interruptWrite(stop)
			}
		}
		l.recv.watch.interrupt = func(stop bool) {
			for _, s := range l.streams {
				s.in.stopped.Store(stop)
				s.sock.interruptRead(stop)
			}
		}
		l.face = f.face(l, k.ch)
		return l
	}
}

// quiet says of a channel that it carries little, and nothing that is urgent.
func quiet(ch fabric.Channel) bool { return ch == fabric.Control || ch >= fabric.ProviderChannels }

func (l *link) lost(err error) error {
	return &fabric.LostError{Peer: l.peer, Addr: l.addr, Err: err}
}

// usable says why a side is of no more use.
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
	if err := s.watch.begin(ctx); err != nil {
		s.broken = err
		return err
	}
	return nil
}

// end closes a call. An error of the operating system becomes what it means: the
// context's cause, our own Close, or a lost peer.
func (l *link) end(ctx context.Context, s *side, err error) error {
	s.watch.end()
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

// Send implements fabric.Link.
func (l *link) Send(ctx context.Context, tag *fabric.Tag, b []byte) error {
	if err := l.begin(ctx, &l.send); err != nil {
		return err
	}
	frame(&l.send.header, tag, len(b), l.sumOf(b))
	var err error
	if l.striped(len(b)) {
		err = l.sendStriped(b)
	} else {
		err = l.streams[0].writeAll(l.send.header[:], b)
	}
	return l.sent(ctx, len(b), err)
}

// sent closes a call that sent a message of n bytes.
func (l *link) sent(ctx context.Context, n int, err error) error {
	if err == nil {
		l.count(n)
	}
	return l.end(ctx, &l.send, err)
}

func (l *link) count(n int) {
	publish.Add(&l.sentMsgs, 1)
	publish.Add(&l.sentBytes, uint64(n))
}

// Post implements fabric.Poster. A message that will be striped is left whole to
// Flush.
func (l *link) Post(tag *fabric.Tag, b []byte) (bool, error) {
	s := &l.send
	if err := l.usable(s); err != nil {
		return false, err
	}
	frame(&s.header, tag, len(b), l.sumOf(b))
	s.restHeader, s.restPayload = s.header[:], b
	if l.striped(len(b)) {
		return false, nil
	}
	n, err := l.streams[0].write(s.restHeader, s.restPayload, false)
	if err != nil {
		return false, l.end(context.Background(), s, err)
	}
	s.restHeader, s.restPayload = advance(s.restHeader, s.restPayload, n)
	if len(s.restHeader)+len(s.restPayload) > 0 {
		return false, nil
	}
	l.count(len(b))
	return true, nil
}

// Flush implements fabric.Poster.
func (l *link) Flush(ctx context.Context) error {
	s := &l.send
	if err := l.begin(ctx, s); err != nil {
		return err
	}
	n := messageLength(&s.header)
	var err error
	switch {
	case len(s.restHeader)+len(s.restPayload) == 0:
		return l.end(ctx, s, nil)
	case l.striped(n):
		err = l.sendStriped(s.restPayload)
	default:
		err = l.streams[0].writeAll(s.restHeader, s.restPayload)
	}
	s.restHeader, s.restPayload = nil, nil
	return l.sent(ctx, n, err)
}

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
		l.send.watch.stop()
		l.recv.watch.stop()
		for _, s := range l.streams {
			s.in.stopped.Store(true)
			s.sock.Close()
		}
		close(l.quit)
		l.workers.Wait()
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
