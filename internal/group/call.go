package group

import (
	"encoding/binary"
	"fmt"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
	"thundercollective/internal/reduce"
)

// A call is what ranks have to agree on about one operation. It is the content
// of the tag that travels with every message of it.
type call struct {
	generation uint32
	group      uint32
	seq        uint64 // number of the operation in its group, or of the message to its peer
	// Not in the order of the tag: the compiler would load them at once, and the
	// processor wait until what was stored one by one is in the cache.
	algo  collective.Algo
	kind  collective.Kind
	dtype reduce.DType
	op    reduce.Op
	root  uint32
	count uint64

	// Of a point-to-point message, for who reads about it; not in the tag.
	peer uint32 // one more than the rank of the job at the other end; 0 if not known
	in   bool   // it comes from there
}

// tag encodes a call.
func (c call) tag() (t fabric.Tag) {
	c.encode(&t)
	return t
}

// encode is tag where it matters: whole words, in place.
func (c *call) encode(t *fabric.Tag) {
	le := binary.LittleEndian
	le.PutUint64(t[0:], uint64(c.generation)|uint64(c.group)<<32)
	le.PutUint64(t[8:], c.seq)
	le.PutUint64(t[16:], uint64(c.kind)|uint64(c.op)<<8|uint64(c.dtype)<<16|uint64(c.algo)<<24|uint64(c.root)<<32)
	le.PutUint64(t[24:], c.count)
}

// callOf decodes a tag. Any 32 bytes decode to something.
func callOf(t *fabric.Tag) call {
	le := binary.LittleEndian
	return call{
		generation: le.Uint32(t[0:]), group: le.Uint32(t[4:]), seq: le.Uint64(t[8:]),
		kind: collective.Kind(t[16]), op: reduce.Op(t[17]), dtype: reduce.DType(t[18]), algo: collective.Algo(t[19]),
		root: le.Uint32(t[20:]), count: le.Uint64(t[24:]),
	}
}

// bytes is the size of the buffer that the count stands for.
func (c call) bytes() uint64 {
	if !c.dtype.Valid() {
		return 0
	}
	return c.count * uint64(c.dtype.Size())
}

// String says it as a programmer would have written it.
func (c call) String() string {
	s := c.kind.String()
	switch {
	case c.kind == collective.Barrier:
		return s
	case c.peer > 0 && c.in:
		return fmt.Sprintf("%v(%d × %v, from rank %d)", collective.Recv, c.count, c.dtype, c.peer-1)
	case c.peer > 0:
		return fmt.Sprintf("%v(%d × %v, to rank %d)", collective.Send, c.count, c.dtype, c.peer-1)
	}
	s += fmt.Sprintf("(%d × %v", c.count, c.dtype)
	if c.kind.Reduces() {
		s += fmt.Sprintf(", %v", c.op)
	}
	if c.kind.Rooted() {
		s += fmt.Sprintf(", root %d", c.root)
	}
	if c.algo != collective.Auto {
		s += fmt.Sprintf(", %v", c.algo)
	}
	return s + ")"
}
