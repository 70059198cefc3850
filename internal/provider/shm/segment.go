package shm

import (
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// headerSize is the size of the page in front of every segment that identifies it.
	headerSize = 4096
	magic      = 0x7468756e64657231

	nonceSize = 32
)

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
	fd  int    // ours, as long as it may yet be passed to peers; -1 otherwise
}

// header is valid as long as the segment is mapped.
func (s *segment) header() *header { return (*header)(unsafe.Pointer(unsafe.SliceData(s.mem))) }

// body is what follows the header.
func (s *segment) body() []byte { return s.mem[headerSize:] }

// newSegment makes a segment with a body of n bytes, zeroed.
func newSegment(n int, id nonce, serial uint64) (*segment, error) {
	fd, err := createFile(headerSize + n)
	if err != nil {
		return nil, fmt.Errorf("shm: making %d bytes of shared memory: %w", n, err)
	}
	s := &segment{fd: fd}
	if s.mem, err = mapFile(fd, headerSize+n); err != nil {
		s.close()
		return nil, fmt.Errorf("shm: mapping %d bytes of shared memory: %w", n, err)
	}
	h := s.header()
	h.nonce, h.serial = id, serial
	h.magic = magic
	return s, nil
}

// attach maps the segment that a peer has passed, closes the file, and makes sure that the
// segment is the one with this nonce and serial number. n is the length of its body, or 0
// for any.
func attach(p parcel, n int, id nonce, serial uint64) (*segment, error) {
	defer unix.Close(p.file)
	if p.size < headerSize || n > 0 && p.size != headerSize+n {
		return nil, fmt.Errorf("the memory passed is %d bytes long", p.size)
	}
	if err := checkFile(p.file, p.size); err != nil {
		return nil, err
	}
	mem, err := mapFile(p.file, p.size)
	if err != nil {
		return nil, err
	}
	s := &segment{mem: mem, fd: -1}
	if h := s.header(); h.magic != magic || h.nonce != id || h.serial != serial {
		s.close()
		return nil, errors.New("the memory passed is another than the one offered")
	}
	return s, nil
}

// createFile makes an anonymous file that cannot change its size, so that no peer can make
// an access fail.
func createFile(size int) (int, error) {
	fd, err := anonymousFile()
	if err != nil {
		return -1, err
	}
	if err = unix.Ftruncate(fd, int64(size)); err == nil {
		err = seal(fd)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// checkFile returns what is wrong with a file that should have this size. It may be longer:
// on some systems files are as long as their last page.
func checkFile(fd, size int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Size < int64(size) {
		return fmt.Errorf("the memory passed is %d bytes long instead of %d", st.Size, size)
	}
	return sealed(fd)
}

func mapFile(fd, size int) ([]byte, error) {
	return unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// unlist ends the time in which the segment can be passed to peers.
func (s *segment) unlist() {
	if s.fd >= 0 {
		unix.Close(s.fd)
		s.fd = -1
	}
}

// close unmaps. Nobody may use the memory any more.
func (s *segment) close() {
	s.unlist()
	if s.mem != nil {
		unix.Munmap(s.mem)
		s.mem = nil
	}
}

func (s *segment) closeIfAny() {
	if s != nil {
		s.close()
	}
}

func (s *segment) unlistIfAny() {
	if s != nil {
		s.unlist()
	}
}
