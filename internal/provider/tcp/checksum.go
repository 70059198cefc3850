package tcp

import (
	"encoding/binary"

	"thundercollective/fabric"
	"thundercollective/internal/crc32c"
)

// A header is what precedes a payload:
//
//	 0  tag     32 bytes
//	32  length   8 bytes   of the whole payload
//	40  sum      4 bytes   of what follows on stream 0, with Config.Checksum; else 0
//	44  check    4 bytes   of the header itself
//
// The parts of a payload on the other streams are followed by their sums.
const (
	atLength   = fabric.TagSize
	atSum      = atLength + 8
	atCheck    = atSum + 4
	headerSize = atCheck + 4
	sumSize    = 4
)

// frame writes the header of a message of n bytes, whose payload has the given sum.
func frame(h *[headerSize]byte, tag *fabric.Tag, n int, sum uint32) {
	*(*fabric.Tag)(h[:]) = *tag
	binary.LittleEndian.PutUint64(h[atLength:], uint64(n))
	binary.LittleEndian.PutUint32(h[atSum:], sum)
	binary.LittleEndian.PutUint32(h[atCheck:], checkOf(h))
}

// messageLength is what frame was told.
func messageLength(h *[headerSize]byte) int {
	return int(binary.LittleEndian.Uint64(h[atLength:]))
}

// check compares a received header with what is expected. The length is compared,
// never trusted. The header's own sum only has to tell a damaged message from one that
// the peer did send.
func check(h *[headerSize]byte, peer int, tag *fabric.Tag, n int) error {
	if expected(h, tag, n) {
		return nil
	}
	got := binary.LittleEndian.Uint64(h[atLength:])
	if binary.LittleEndian.Uint32(h[atCheck:]) != checkOf(h) {
		return &fabric.CorruptError{What: "header"}
	}
	return &fabric.TagError{Peer: peer, Want: *tag, Got: fabric.Tag(h[:fabric.TagSize]), WantLen: uint64(n), GotLen: got}
}

// expected reports whether a received header has this tag and length.
func expected(h *[headerSize]byte, tag *fabric.Tag, n int) bool {
	le := binary.LittleEndian
	differ := le.Uint64(h[atLength:]) ^ uint64(n)
	differ |= le.Uint64(h[0:]) ^ le.Uint64(tag[0:])
	differ |= le.Uint64(h[8:]) ^ le.Uint64(tag[8:])
	differ |= le.Uint64(h[16:]) ^ le.Uint64(tag[16:])
	differ |= le.Uint64(h[24:]) ^ le.Uint64(tag[24:])
	return differ == 0
}

// sumOf is the sum that the header of a message carries: of the part of b that goes
// with it on stream 0.
func (l *link) sumOf(b []byte) uint32 {
	if !l.sums {
		return 0
	}
	if l.striped(len(b)) {
		_, to := part(len(b), 0, len(l.streams))
		b = b[:to]
	}
	return crc32c.Sum(b)
}

// verify compares the sum of what was received with the one that the peer sent.
func verify(want *[sumSize]byte, got uint32) error {
	if binary.LittleEndian.Uint32(want[:]) != got {
		return &fabric.CorruptError{What: "payload"}
	}
	return nil
}

// headerSum is the sum in the header that was received last.
func (l *link) headerSum() *[sumSize]byte { return (*[sumSize]byte)(l.recv.header[atSum:]) }

// taken is the sum of what rest has received into to, m bytes.
func (s *stream) taken(to sink, m int) uint32 {
	if to.f != nil {
		return s.sum // pieces has added it up
	}
	return crc32c.Sum(to.buf[:m])
}

// sendSummed is sendPart with the part's sum behind it.
func sendSummed(s *stream, j job) error {
	binary.LittleEndian.PutUint32(s.sumOut[:], crc32c.Sum(j.buf))
	return s.writeAll(j.buf, s.sumOut[:])
}

// recvSummed is recvPart with the part's sum behind it.
func recvSummed(s *stream, j job) error {
	if err := recvPart(s, j); err != nil {
		return err
	}
	if err := s.readAll(nil, s.sumIn[:]); err != nil {
		return err
	}
	if j.to.f == nil {
		j.to.buf = j.to.buf[j.off:]
	}
	return verify(&s.sumIn, s.taken(j.to, j.n))
}
