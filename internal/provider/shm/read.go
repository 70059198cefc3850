package shm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"thundercollective/fabric"
)

// errGoneFrom is the cause when the process of a rank no longer exists.
var errGoneFrom = errors.New("its process is gone")

// located marks the handles of Locate where those of Share have a serial number, which
// is never 0.
const located = 1

// A span is memory of this process.
type span struct{ start, end uintptr }

// prove reads what a peer has said lies in its memory. A process of another name space
// that happens to have the same number, or one that does not let itself be read, fails.
func prove(pid uint32, proof uint64, id nonce) error {
	if proof == 0 {
		return errors.New("the peer keeps its memory to itself")
	}
	var found nonce
	if err := readMemory(pid, uintptr(proof), found[:]); err != nil {
		return err
	}
	if found != id {
		return errors.New("the memory found is another than the one offered")
	}
	return nil
}

// locate names memory of this process to peers that can read it.
func (s *sharing) locate(b []byte) (h fabric.Handle, ok bool) {
	at := addressOf(b)
	if len(b) == 0 || !s.readable(span{at, at + uintptr(len(b))}) {
		return h, false
	}
	binary.LittleEndian.PutUint32(h[0:], located)
	binary.LittleEndian.PutUint64(h[8:], uint64(at))
	return h, true
}

// readable reports whether peers can read memory of this process: it tries, the first time
// it sees it, since they would find out only in the middle of an operation.
func (s *sharing) readable(m span) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.tried {
		if known.start <= m.start && m.end <= known.end {
			return true
		}
	}
	pid := uint32(os.Getpid())
	var b [1]byte
	if readMemory(pid, m.start, b[:]) != nil || readMemory(pid, m.end-1, b[:]) != nil {
		return false
	}
	s.tried[s.tryNext] = m
	s.tryNext = (s.tryNext + 1) % remembered
	return true
}

// read fills b with what lies off bytes into memory of the peer.
func (p *pair) read(h fabric.Handle, off int, b []byte) error {
	if !p.reads {
		return fmt.Errorf("shm: memory of rank %d cannot be read", p.peer)
	}
	if binary.LittleEndian.Uint64(h[0:]) != located || off < 0 {
		return fmt.Errorf("shm: rank %d names no memory that can be read", p.peer)
	}
	h[len(h)-1] = 0
	err := readMemory(p.pid, uintptr(binary.LittleEndian.Uint64(h[8:]))+uintptr(off), b)
	if err == nil {
		return nil
	}
	if errors.Is(err, errNoProcess) || prove(p.pid, p.proof, p.id) != nil {
		return &fabric.LostError{Peer: p.peer, Err: errGoneFrom}
	}
	return fmt.Errorf("shm: reading %d bytes of rank %d: %w", len(b), p.peer, err)
}
