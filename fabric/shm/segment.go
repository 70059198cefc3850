package shm

import (
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"
)

const (
	// headerSize is the page in front of every segment that says what it is.
	headerSize = 4096
	magic      = 0x7468756e64657231

	nonceSize = 32
)

// errUnsupported is why a machine shares no memory at all.
var errUnsupported = errors.New("shared memory is not supported on this system")

// A nonce proves that a segment is the one that was offered: it is random, and
// known only to those who were told over the authenticated bootstrap.
type nonce [nonceSize]byte

func newNonce() (n nonce) {
	rand.Read(n[:])
	return n
}

// header is the beginning of a segment.
type header struct {
	magic  uint64
	nonce  nonce
	serial uint64
	freed  atomic.Uint32 // its owner has given it up
}

// A segment is a mapping of an anonymous file, ours or a peer's.
type segment struct {
	mem []byte // whole, header included
	fd  int    // ours, as long as peers may yet attach; -1 otherwise
}

// header is valid as long as the segment is mapped.
func (s *segment) header() *header { return (*header)(unsafe.Pointer(unsafe.SliceData(s.mem))) }

// body is what follows the header.
func (s *segment) body() []byte { return s.mem[headerSize:] }

// newSegment makes a segment with a body of n bytes, zeroed.
func newSegment(n int, id nonce, serial uint64) (*segment, error) {
	s, err := createSegment(headerSize + n)
	if err != nil {
		return nil, fmt.Errorf("shm: making %d bytes of shared memory: %w", n, err)
	}
	h := s.header()
	h.nonce, h.serial = id, serial
	h.magic = magic
	return s, nil
}

// attach maps the segment that process pid has as file fd, and makes sure that it
// is the one with this nonce and serial number. n is the length of its body, or 0
// for any.
func attach(pid, fd uint32, n int, id nonce, serial uint64) (*segment, error) {
	size := 0
	if n > 0 {
		size = headerSize + n
	}
	s, err := openSegment(pid, fd, size)
	if err != nil {
		return nil, err
	}
	if h := s.header(); h.magic != magic || h.nonce != id || h.serial != serial {
		s.close()
		return nil, errors.New("the memory found is another than the one offered")
	}
	return s, nil
}
