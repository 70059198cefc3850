package rails

import (
	"encoding/binary"

	"thundercollective/fabric"
	"thundercollective/internal/crc32c"
)

const (
	atSum      = 48 + fabric.TagSize
	atCheck    = atSum + 4
	headerSize = atCheck + 4
	// segmentSize is the maximum payload of a frame: what a gigabit link carries in
	// half a millisecond, and a multiple of fabric.PieceAlign.
	segmentSize = 64 << 10
	// maxSegments is how many segments a receiver buffers ahead of its caller, and
	// how many a sender keeps until they are acknowledged.
	maxSegments = 64
	// maxQueued is how many of those may wait for a stream.
	maxQueued = 16
)

// Kinds of frame.
const (
	kindData uint8 = 1 + iota
	kindAck
	kindGo  // the dialler considers the link usable
	kindBye // the peer has closed its end, after seq segments
)

// A header precedes every payload.
type header struct {
	kind            uint8
	n               uint32
	seq, off, total uint64
	arrived, credit uint64
	tag             fabric.Tag
	sum             uint32 // of the payload, with Config.Checksum; else 0
}

func (h *header) encode(b *[headerSize]byte) {
	le := binary.LittleEndian
	clear(b[:4])
	b[0] = h.kind
	le.PutUint32(b[4:], h.n)
	le.PutUint64(b[8:], h.seq)
	le.PutUint64(b[16:], h.off)
	le.PutUint64(b[24:], h.total)
	le.PutUint64(b[32:], h.arrived)
	le.PutUint64(b[40:], h.credit)
	copy(b[48:], h.tag[:])
	le.PutUint32(b[atSum:], h.sum)
	le.PutUint32(b[atCheck:], crc32c.Sum(b[:atCheck]))
}

// decode is the reverse of encode. Its error is a *fabric.CorruptError.
func (h *header) decode(b *[headerSize]byte) error {
	le := binary.LittleEndian
	if le.Uint32(b[atCheck:]) != crc32c.Sum(b[:atCheck]) {
		return &fabric.CorruptError{What: "header"}
	}
	h.kind = b[0]
	h.n = le.Uint32(b[4:])
	h.seq = le.Uint64(b[8:])
	h.off = le.Uint64(b[16:])
	h.total = le.Uint64(b[24:])
	h.arrived = le.Uint64(b[32:])
	h.credit = le.Uint64(b[40:])
	copy(h.tag[:], b[48:])
	h.sum = le.Uint32(b[atSum:])
	return nil
}

// sumOf returns the checksum of a payload for its header; 0 without Config.Checksum.
func (f *Fabric) sumOf(payload []byte) uint32 {
	if !f.cfg.Checksum {
		return 0
	}
	return crc32c.Sum(payload)
}
