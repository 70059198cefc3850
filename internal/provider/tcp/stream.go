package tcp

import (
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"thundercollective/internal/spin"
)

// A stream is one connection of a link. Reading and writing are independent; each
// has one user at a time.
type stream struct {
	sock socket
	in   half
	out  half
	spin spin.Spinner // for short messages
	push func() bool  // moves on what waits to be sent elsewhere; nil for nothing
	// stage is where RecvFunc's pieces are read to; made on first use.
	stage []byte
	// With checksums: the sum of what pieces handed out, and those behind parts.
	sums          bool
	sum           uint32
	sumIn, sumOut [sumSize]byte
}

// A socketError came from the socket, not from a callback or a check.
type socketError struct{ err error }

func (e *socketError) Error() string { return e.err.Error() }
func (e *socketError) Unwrap() error { return e.err }

// half is the state of one direction. It lives here, with its callback, so that a
// transfer allocates nothing.
type half struct {
	vec     vector
	total   int // bytes wanted by the call
	n       int // bytes moved by it
	err     error
	block   bool // park when the socket is not ready
	poll    bool // before parking
	stopped atomic.Bool
	try     func(fd uintptr) bool
}

func newStream(sock socket, s0 spin.Spinner) *stream {
	s := &stream{sock: sock, spin: s0}
	s.in.try, s.out.try = s.tryRead, s.tryWrite
	return s
}

// spinLength is the longest message that is worth polling for. While longer ones
// move, there is work for every processor.
const spinLength = 64 << 10

// callMost is how much payload one call moves at the most; a few hundred microseconds.
const callMost = 1 << 20

// read fills a then b as far as the socket has something, at least one byte,
// waiting for that: polling first if poll says so and it has helped lately, then
// parked.
func (s *stream) read(a, b []byte, poll bool) (int, error) {
	h := &s.in
	h.total = h.vec.set(a, b[:min(len(b), callMost)])
	if h.total == 0 {
		return 0, nil
	}
	if n := h.vec.taken(); n > 0 {
		return n, nil
	}
	return s.await(poll)
}

// await makes the call that has been prepared.
func (s *stream) await(poll bool) (int, error) {
	h := &s.in
	h.poll = (poll || s.push != nil) && s.spin.Try()
	err := s.sock.read(h.try)
	if err == nil {
		err = h.err
	}
	if err == nil && h.n == 0 {
		err = io.EOF
	}
	if err != nil {
		return 0, &socketError{err}
	}
	return h.n, nil
}

// A reader polls eagerPolls times before it offers the processor to others between
// polls, who may include the peer. It looks at the clock every clockPolls. If others are
// there from the start it makes the offer, which may take long, after every poll, and looks
// at the clock each time.
const (
	eagerPolls = 4
	clockPolls = 4
)

// tryRead is called at once, and whenever the socket may have become readable.
func (s *stream) tryRead(fd uintptr) bool {
	h := &s.in
	var since time.Time
	for polls := 0; ; {
		h.n, h.err = h.vec.readv(fd, h.total)
		if h.err != syscall.EAGAIN {
			if polls > 0 {
				s.spin.Won()
			}
			return true
		}
		pushed := s.push != nil && s.push()
		if !h.poll || h.stopped.Load() {
			return false
		}
		if pushed {
			polls, since = 1, time.Time{}
			continue
		}
		polls++
		if s.spin.Shared || polls%clockPolls == 0 {
			now := time.Now()
			switch {
			case since.IsZero():
				since = now
			case now.Sub(since) > s.spin.Budget:
				s.spin.Lost()
				h.poll = false // woken, it is there
				return false
			}
		}
		if s.spin.Shared || polls > eagerPolls {
			yield()
		}
	}
}

// write sends a then b as far as the socket takes it. With block it waits until at
// least one byte went; without, n may be 0.
func (s *stream) write(a, b []byte, block bool) (int, error) {
	h := &s.out
	h.total, h.block = h.vec.set(a, b[:min(len(b), callMost)]), block
	err := s.sock.write(h.try)
	if err == nil {
		err = h.err
	}
	if err != nil {
		return 0, &socketError{err}
	}
	return h.n, nil
}

func (s *stream) tryWrite(fd uintptr) bool {
	h := &s.out
	h.n, h.err = h.vec.writev(fd, h.total)
	if h.err == syscall.EAGAIN {
		h.n, h.err = 0, nil
		return !h.block
	}
	return true
}

// writeAll sends both buffers, waiting as long as it takes.
func (s *stream) writeAll(a, b []byte) error {
	for len(a)+len(b) > 0 {
		n, err := s.write(a, b, true)
		if err != nil {
			return err
		}
		a, b = advance(a, b, n)
	}
	return nil
}

// readAll fills both buffers.
func (s *stream) readAll(a, b []byte) error {
	for len(a)+len(b) > 0 {
		n, err := s.read(a, b, false)
		if err != nil {
			return err
		}
		a, b = advance(a, b, n)
		if s.push != nil {
			s.push()
		}
	}
	return nil
}

// advance drops the first n bytes of a then b.
func advance(a, b []byte, n int) ([]byte, []byte) {
	if n < len(a) {
		return a[n:], b
	}
	return nil, b[n-len(a):]
}
