package tcp

import (
	"context"
	"os"
	"syscall"
	"unsafe"

	"thundercollective/fabric"
)

// Short messages of a solo take a way of their own, on which nothing is done that only
// a longer one needs. The processor comes back from every call into the kernel with
// cold caches, so each line of code costs several times what it does elsewhere.

// short says whether a payload of n bytes takes that way.
func (s *solo) short(n int) bool { return n <= gatherLimit-headerSize && !s.sums }

// writeShort is writeFirst of a short message.
func (s *solo) writeShort(tag *fabric.Tag, b []byte) bool {
	v := &s.streams[0].out.vec
	if v.gather == nil {
		v.gather = make([]byte, gatherLimit)
	}
	p := v.gather[:headerSize+len(b)]
	frame((*[headerSize]byte)(p), tag, len(b), 0)
	copy(p[headerSize:], b)
	if !s.sock.enter() {
		s.broke(&socketError{os.ErrClosed})
		return false
	}
	n, err := transmit(uintptr(s.sock.fd), p)
	s.sock.leave()
	if n == len(p) {
		s.count(len(b))
		return true
	}
	if err == syscall.EAGAIN {
		err = nil
	}
	s.load(tag, b)
	return s.wrote(n, err)
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
	if uintptr(unsafe.Pointer(unsafe.SliceData(p)))%fabric.PieceAlign != 0 { // behind another one
		st := s.streams[0]
		st.needStage(n)
		p = st.stage[:copy(st.stage, p)]
	}
	if err := f(0, p); err != nil {
		return s.end(ctx, &s.recv, err)
	}
	return nil
}

// recvShort returns the payload of a message where it was read to; it stays there
// until the next call.
func (s *solo) recvShort(ctx context.Context, tag *fabric.Tag, n int) ([]byte, error) {
	if s.recv.broken != nil || s.closed.Load() || ctx.Err() != nil {
		return nil, s.begin(ctx, &s.recv) // it says why not
	}
	v := &s.streams[0].in.vec
	for len(v.ahead) < headerSize {
		if err := s.fetch(ctx); err != nil {
			return nil, err
		}
	}
	if err := check((*[headerSize]byte)(v.ahead), s.peer, tag, n); err != nil {
		return nil, s.end(ctx, &s.recv, err)
	}
	all := headerSize + n
	for len(v.ahead) < all {
		if err := s.fetch(ctx); err != nil {
			return nil, err
		}
	}
	p := v.ahead[headerSize:all:all]
	v.ahead = v.ahead[all:]
	s.recvMsgs.Add(1)
	s.recvBytes.Add(uint64(n))
	return p, nil
}

// fetch reads more ahead. Only if it has to wait for that is there anything that the
// end of the context could interrupt.
func (s *solo) fetch(ctx context.Context) error {
	st := s.streams[0]
	v := &st.in.vec
	if s.sock.enter() {
		n, err := v.fill(uintptr(s.sock.fd))
		s.sock.leave()
		switch {
		case n > 0:
			return nil
		case err != nil && err != syscall.EAGAIN: // the kernel says it only once
			return s.end(ctx, &s.recv, &socketError{err})
		}
	}
	if err := s.begin(ctx, &s.recv); err != nil {
		return err
	}
	if st.spin.Shared && !s.hub.push() {
		yield() // that was the first poll
	}
	st.in.total = v.set(nil, nil)
	_, err := st.await(true)
	return s.end(ctx, &s.recv, err)
}
