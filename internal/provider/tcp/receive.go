package tcp

import (
	"thundercollective/fabric"
	"thundercollective/internal/crc32c"
)

// A sink is where a payload goes: into buf, or to f in pieces.
type sink struct {
	buf []byte
	f   func(off int, p []byte) error
}

// recvHeader reads the header of a message on stream 0, together with as much of
// the payload as is there, up to m bytes: a small message takes one system call.
// It returns how much payload it got, in to.buf or in the stage.
func (l *link) recvHeader(tag *fabric.Tag, n, m int, to sink) (got int, err error) {
	s := l.streams[0]
	dst := to.buf
	if to.f != nil {
		s.needStage(m)
		dst = s.stage
	}
	dst = dst[:min(m, len(dst))]
	rest := l.recv.header[:]
	for len(rest) > 0 {
		k, err := s.read(rest, dst, n <= spinLength)
		if err != nil {
			return 0, err
		}
		if k > len(rest) {
			got = k - len(rest)
		}
		rest = rest[min(k, len(rest)):]
	}
	return got, check(&l.recv.header, l.peer, tag, n)
}

// rest receives what remains of the first m bytes of a payload after recvHeader.
func (l *link) rest(to sink, m, got int) error {
	s := l.streams[0]
	var err error
	if to.f == nil {
		err = s.readAll(nil, to.buf[got:m])
	} else {
		err = s.pieces(to.f, 0, m, got)
	}
	if err == nil && l.sums {
		err = verify(l.headerSum(), s.taken(to, m))
	}
	return err
}

// needStage makes the staging buffer large enough for a payload of n bytes, up to
// its bound.
func (s *stream) needStage(n int) {
	const small = 16 << 10
	switch {
	case n > small && len(s.stage) < stageSize:
		s.stage = make([]byte, stageSize)
	case len(s.stage) < small:
		s.stage = make([]byte, small)
	}
}

// pieces hands the payload bytes [off, off+n) to f as they come in, of which the
// stage holds the first have already. All pieces but the last are multiples of
// fabric.PieceAlign.
func (s *stream) pieces(f func(int, []byte) error, off, n, have int) error {
	end := off + n
	s.sum = 0
	for off < end {
		use := have
		if off+have < end {
			use = have &^ (fabric.PieceAlign - 1)
		}
		if use > 0 {
			if s.sums {
				s.sum = crc32c.Add(s.sum, s.stage[:use])
			}
			if err := f(off, s.stage[:use]); err != nil {
				return err
			}
			have = copy(s.stage, s.stage[use:have])
			off += use
			if s.push != nil {
				s.push()
			}
			continue
		}
		k, err := s.read(nil, s.stage[have:min(len(s.stage), end-off)], false)
		if err != nil {
			return err
		}
		have += k
	}
	return nil
}
