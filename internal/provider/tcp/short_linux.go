package tcp

import (
	"context"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"thundercollective/fabric"
	"thundercollective/internal/publish"
)

// Short messages of a solo take a way of their own, on which nothing is done that only
// a longer one needs. The processor comes back from every call into the kernel with
// cold caches, so each line of code costs several times what it does elsewhere.

// shortMost is the longest payload that takes that way.
const shortMost = gatherLimit - headerSize

// short reports whether a payload of n bytes takes that way.
func (s *solo) short(n int) bool { return n <= shortMost && !s.sums }

// Borrow implements fabric.Link.
func (s *solo) Borrow() int {
	if s.sums {
		return -1
	}
	return shortMost
}

// Post implements fabric.Link.
func (s *solo) Post(tag *fabric.Tag, b []byte) (bool, error) {
	s.mu.Lock()
	if s.send.broken != nil || s.closed.Load() || s.remaining() > 0 || !s.short(len(b)) {
		return s.post(tag, b)
	}
	p := s.outgoing[:headerSize+len(b)]
	frame((*[headerSize]byte)(p), tag, len(b), 0)
	copy(p[headerSize:], b)
	if !s.sock.enter(&s.sock.out) {
		return s.posted(tag, b, 0, syscall.EBADF)
	}
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(s.sock.fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), unix.MSG_NOSIGNAL, 0, 0)
	s.sock.out.leave()
	if int(n) != len(p) {
		return s.posted(tag, b, int(n), errno)
	}
	s.count(len(b))
	s.mu.Unlock()
	return true, nil
}

// posted ends the post of a short message of which the socket has taken n bytes, not all.
// It gives up mu.
func (s *solo) posted(tag *fabric.Tag, b []byte, n int, errno syscall.Errno) (bool, error) {
	defer s.mu.Unlock()
	s.load(tag, b)
	switch errno {
	case 0:
		s.wrote(n, nil)
	case syscall.EAGAIN, syscall.EINTR:
	default:
		s.broke(&socketError{errno})
	}
	return s.enqueue(tag, b)
}

// Recv implements fabric.Link.
func (s *solo) Recv(ctx context.Context, tag *fabric.Tag, b []byte) error {
	if !s.short(len(b)) {
		return s.link.Recv(ctx, tag, b)
	}
	p, err := s.recvShort(ctx, tag, len(b))
	copy(b, p)
	return err
}

// RecvFunc implements fabric.Link.
func (s *solo) RecvFunc(ctx context.Context, tag *fabric.Tag, n int, f func(off int, p []byte) error) error {
	if !s.short(n) {
		return s.link.RecvFunc(ctx, tag, n, f)
	}
	p, err := s.recvShort(ctx, tag, n)
	if err != nil || n == 0 {
		return err
	}
	if err := f(0, p); err != nil {
		return s.end(ctx, &s.recv, err)
	}
	return nil
}

// recvShort is Take of a call whose context may have ended before.
func (s *solo) recvShort(ctx context.Context, tag *fabric.Tag, n int) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, s.begin(ctx, &s.recv) // returns why not
	}
	return s.Take(ctx, tag, n)
}

// Take implements fabric.Link.
func (s *solo) Take(ctx context.Context, tag *fabric.Tag, n int) ([]byte, error) {
	v := &s.incoming.vec
	all := headerSize + n
	if len(v.ahead) < all || s.recv.broken != nil || s.closed.Load() {
		if err := s.read(ctx, tag, n); err != nil {
			return nil, err
		}
	}
	h := v.ahead
	if !expected((*[headerSize]byte)(h), tag, n) {
		return nil, s.refuse(ctx, tag, n)
	}
	v.ahead = h[all:]
	publish.Add(&s.recvMsgs, 1)
	publish.Add(&s.recvBytes, uint64(n))
	h = h[headerSize:all:all]
	if uintptr(unsafe.Pointer(unsafe.SliceData(h)))%fabric.PieceAlign != 0 { // behind another one
		return s.aligned(h), nil
	}
	return h, nil
}

// read reads ahead until a short message is there, or it is not the one expected.
func (s *solo) read(ctx context.Context, tag *fabric.Tag, n int) error {
	if s.recv.broken != nil || s.closed.Load() {
		return s.begin(ctx, &s.recv) // returns why not
	}
	v := &s.incoming.vec
	for len(v.ahead) < headerSize {
		if err := s.fetch(ctx); err != nil {
			return err
		}
	}
	for len(v.ahead) < headerSize+n && expected((*[headerSize]byte)(v.ahead), tag, n) {
		if err := s.fetch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// refuse ends the receiving side because of the message that has come.
func (s *solo) refuse(ctx context.Context, tag *fabric.Tag, n int) error {
	return s.end(ctx, &s.recv, check((*[headerSize]byte)(s.incoming.vec.ahead), s.peer, tag, n))
}

// aligned copies a message to where pieces may start.
func (s *solo) aligned(p []byte) []byte {
	st := s.streams[0]
	st.needStage(len(p))
	return st.stage[:copy(st.stage, p)]
}

// fetch reads more ahead. Only if it has to wait for that is there anything that the
// end of the context could interrupt.
func (s *solo) fetch(ctx context.Context) error {
	v := &s.incoming.vec
	if s.sock.enter(&s.sock.in) {
		p := v.room()
		n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(s.sock.fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0, 0, 0)
		s.sock.in.leave()
		switch {
		case errno == 0 && n > 0:
			v.ahead = v.ahead[:len(v.ahead)+int(n)]
			return nil
		case errno != 0 && errno != syscall.EAGAIN && errno != syscall.EINTR: // the kernel reports it only once
			return s.end(ctx, &s.recv, &socketError{errno})
		}
	}
	if err := s.begin(ctx, &s.recv); err != nil {
		return err
	}
	st := s.streams[0]
	if st.spin.Shared && !s.backlog.push() {
		yield() // that was the first poll
	}
	st.in.total = v.set(nil, nil)
	_, err := st.await(true)
	return s.end(ctx, &s.recv, err)
}
