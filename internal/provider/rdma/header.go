package rdma

import (
	"encoding/binary"

	"thundercollective/fabric"
	"thundercollective/internal/crc32c"
)

// Every SEND begins with a header of fixed size, little endian:
//
//	 0 kind      u8   data, control or probe
//	 4 crc       u32  Castagnoli, over the header with this field zero and the payload
//	 8 seq       u64  number of the data message, or probe, on its lane
//	16 ack       u64  data messages that the sender has received in order on this lane
//	24 limit     u64  the peer may send data messages with numbers below this
//	32 msg       u64  number of the fabric message on the link
//	40 len       u64  its payload
//	48 off       u64  where this piece starts in it
//	56 n         u32  bytes of this piece
//	64 tag
const headerSize = 96

const (
	kindData    = 1
	kindControl = 2
	kindProbe   = 3
)

// header is its decoded form.
type header struct {
	kind       byte
	seq        uint64
	ack, limit uint64
	msg        uint64
	len, off   uint64
	n          uint32
	tag        fabric.Tag
}

var le = binary.LittleEndian

// put writes the header to the start of a slot, without the checksum.
func (h *header) put(b []byte) {
	_ = b[headerSize-1]
	clear(b[:8])
	b[0] = h.kind
	le.PutUint64(b[8:], h.seq)
	le.PutUint64(b[16:], h.ack)
	le.PutUint64(b[24:], h.limit)
	le.PutUint64(b[32:], h.msg)
	le.PutUint64(b[40:], h.len)
	le.PutUint64(b[48:], h.off)
	le.PutUint32(b[56:], h.n)
	le.PutUint32(b[60:], 0)
	copy(b[64:headerSize], h.tag[:])
}

func (h *header) get(b []byte) {
	_ = b[headerSize-1]
	h.kind = b[0]
	h.seq = le.Uint64(b[8:])
	h.ack = le.Uint64(b[16:])
	h.limit = le.Uint64(b[24:])
	h.msg = le.Uint64(b[32:])
	h.len = le.Uint64(b[40:])
	h.off = le.Uint64(b[48:])
	h.n = le.Uint32(b[56:])
	copy(h.tag[:], b[64:headerSize])
}

// seal writes the checksum of the message b into its header.
func seal(b []byte) {
	le.PutUint32(b[4:], 0)
	le.PutUint32(b[4:], crc32c.Sum(b))
}

// intact reports whether the checksum of b is right. b may contain anything.
func intact(b []byte) bool {
	want := le.Uint32(b[4:])
	le.PutUint32(b[4:], 0)
	return crc32c.Sum(b) == want
}
