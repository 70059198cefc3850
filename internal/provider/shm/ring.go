package shm

import (
	"sync/atomic"
	"unsafe"

	"thundercollective/fabric"
)

const (
	cellCount = 128
	// inline is the longest payload that travels in its cell.
	inline = 16
	// dataSize is the length of the ring of bytes; with what it is reduced into,
	// it is meant to stay in the second-level cache.
	dataSize = 256 << 10
	// chunkSize is how a payload is cut. At most half of dataSize, so that a chunk
	// always fits an empty ring although it is never wrapped around.
	chunkSize = 32 << 10
	// line is what chunks are aligned to.
	line = 64
)

// A cell announces a message, or one more chunk of it.
type cell struct {
	seq    atomic.Uint64 // one more than the number of cells before it; written last
	length uint64        // of the message, in bytes; in its first cell only
	tag    fabric.Tag
	small  [inline]byte
}

// wire is one direction of a link in shared memory.
type wire struct {
	taken atomic.Uint64 // cells that the receiver is done with
	_     [120]byte
	cells [cellCount]cell
	// data begins a page. Buffers tend to do so as well, and copying to a place a little
	// further on in its page than where one copies from is slow: the processor takes
	// loads for ones of what it has just stored, of which it compares the last 12 bits.
	_    [headerSize - 128]byte
	data [dataSize]byte
}

// linkSize is the body of a link's segment: two wires.
const linkSize = 2 * int(unsafe.Sizeof(wire{}))

// wireOf returns one of the two wires of a segment.
func wireOf(s *segment, i int) *wire {
	return (*wire)(unsafe.Pointer(&s.body()[uintptr(i)*unsafe.Sizeof(wire{})]))
}

// chunk returns where a chunk of n bytes lies that is put behind pos, and the
// position behind it. Positions count bytes from the beginning of time; a chunk
// that would not fit before the end of the ring begins at its start.
func chunk(pos uint64, n int) (at, next uint64) {
	if off := pos % dataSize; off+uint64(n) > dataSize {
		pos += dataSize - off
	}
	return pos, (pos + uint64(n) + line - 1) &^ (line - 1)
}

// outWire is the sender's view of a wire.
type outWire struct {
	*wire
	next  uint64            // number of the next cell
	pos   uint64            // where the next chunk goes
	taken uint64            // last value seen of wire.taken
	freed uint64            // position up to which the ring of bytes is free again
	ends  [cellCount]uint64 // by cell: the position behind its chunk
}

// room reports whether there is room for a chunk that ends at position end.
func (w *outWire) room(end uint64) bool {
	if w.fits(end) {
		return true
	}
	taken := w.wire.taken.Load()
	if taken == w.taken || taken > w.next { // the latter is a peer gone mad
		return false
	}
	w.taken, w.freed = taken, w.ends[(taken-1)%cellCount]
	return w.fits(end)
}

func (w *outWire) fits(end uint64) bool {
	return w.next-w.taken < cellCount && end-w.freed <= dataSize
}

// put writes as much of a message as there is room for, of which sent bytes went
// before (begun, if any cell did), and returns how many bytes went in all.
func (w *outWire) put(tag *fabric.Tag, b []byte, sent int, begun bool) (int, bool) {
	for !begun || sent < len(b) {
		n := min(chunkSize, len(b)-sent)
		small := len(b) <= inline
		at, end := w.pos, w.pos
		if !small {
			at, end = chunk(w.pos, n)
		}
		if !w.room(end) {
			return sent, begun
		}
		if !begun {
			w.announce(tag, len(b))
			begun = true
		}
		if small {
			copy(w.cell().small[:], b)
		} else {
			copy(w.data[at%dataSize:], b[sent:sent+n])
		}
		sent += n
		w.publish(end)
	}
	return sent, true
}

// cell returns the one that goes next.
func (w *outWire) cell() *cell { return &w.cells[w.next%cellCount] }

// announce writes into the next cell which message begins with it.
func (w *outWire) announce(tag *fabric.Tag, n int) {
	c := w.cell()
	c.length, c.tag = uint64(n), *tag
}

// publish lets the next cell go, whose chunk ends at position end.
func (w *outWire) publish(end uint64) {
	c := w.cell()
	w.ends[w.next%cellCount] = end
	w.pos = end
	w.next++
	c.seq.Store(w.next)
}

// inWire is the receiver's view of a wire.
type inWire struct {
	*wire
	next uint64 // number of the next cell
	pos  uint64 // where the next chunk lies
}

// met reports whether the next cell has arrived.
func (w *inWire) met() bool { return w.cells[w.next%cellCount].seq.Load() == w.next+1 }

// first returns the cell that met found.
func (w *inWire) first() *cell { return &w.cells[w.next%cellCount] }

// payload returns the n bytes of the cell that met found, of a message of length
// total.
func (w *inWire) payload(n, total int) []byte {
	if total <= inline {
		return w.first().small[:n]
	}
	return w.chunk(n)
}

// chunk returns the next n bytes of the ring.
func (w *inWire) chunk(n int) []byte {
	at, end := chunk(w.pos, n)
	w.pos = end
	return w.data[at%dataSize:][:n:n]
}

// release gives the cell and its payload back to the sender.
func (w *inWire) release() {
	w.next++
	w.taken.Store(w.next)
}
