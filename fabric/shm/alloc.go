package shm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"thundercollective/fabric"
)

// sharing is the memory of Alloc, ours and that of peers.
type sharing struct {
	mu     sync.Mutex
	serial uint32
	own    []allocation       // by address
	theirs map[reach]*segment // what was mapped of peers
	closed bool

	tried   [remembered]span // other memory that was found to be readable, lately
	tryNext int              // where the next one goes
}

// remembered is how much memory is known to be readable without trying: that of the
// operations which a program repeats.
const remembered = 16

// An allocation is one piece of memory of Alloc.
type allocation struct {
	start, end uintptr
	serial     uint32
	seg        *segment
	heap       []byte // instead of seg, where no memory can be shared
}

// A reach names memory of a peer.
type reach struct {
	peer   int
	serial uint32
}

// Alloc implements fabric.Allocator.
func (f *Fabric) Alloc(n int) ([]byte, error) {
	s := &f.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fabric.ErrClosed
	}
	s.serial++
	var b []byte
	a := allocation{serial: s.serial}
	if f.home == nil {
		b = make([]byte, max(n, 1))
		a.heap = b
	} else {
		seg, err := newSegment(max(n, 1), f.id, uint64(s.serial))
		if err != nil {
			return nil, err
		}
		seg.populate()
		b, a.seg = seg.body(), seg
	}
	a.start = addressOf(b)
	a.end = a.start + uintptr(len(b))
	i, _ := s.find(a.start)
	s.own = slices.Insert(s.own, i, a)
	return b[:n:n], nil
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// find returns the allocation that holds an address, or where one would be.
func (s *sharing) find(address uintptr) (int, bool) {
	return slices.BinarySearchFunc(s.own, address, func(a allocation, at uintptr) int {
		switch {
		case a.end <= at:
			return -1
		case a.start > at:
			return 1
		}
		return 0
	})
}

// Free implements fabric.Allocator. Peers let go of their mappings when they next
// map something.
func (f *Fabric) Free(b []byte) error {
	s := &f.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.find(addressOf(b))
	if !ok || s.own[i].start != addressOf(b) {
		return errors.New("shm: free of memory that Alloc did not return")
	}
	s.own[i].release()
	s.own = slices.Delete(s.own, i, i+1)
	return nil
}

func (a *allocation) release() {
	if a.seg == nil {
		return
	}
	a.seg.header().freed.Store(1)
	a.seg.close()
}

// Share implements fabric.Sharer.
func (f *Fabric) Share(b []byte) (h fabric.Handle, ok bool) {
	s := &f.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	at := addressOf(b)
	i, ok := s.find(at)
	if !ok || at+uintptr(len(b)) > s.own[i].end || s.own[i].seg == nil {
		return h, false
	}
	a := &s.own[i]
	binary.LittleEndian.PutUint32(h[0:], uint32(a.seg.fd))
	binary.LittleEndian.PutUint32(h[4:], a.serial)
	binary.LittleEndian.PutUint64(h[8:], uint64(at-a.start))
	return h, true
}

// Shares implements fabric.Sharer. It waits for nobody: a pair that has not met
// does not share yet.
func (f *Fabric) Shares(peer int) bool {
	if peer == f.Rank() {
		return f.home != nil
	}
	p := f.met(peer)
	return p != nil && p.home != nil
}

// met returns what is known about a peer, if it is already.
func (f *Fabric) met(peer int) *pair {
	f.mu.Lock()
	p := f.pairs[peer]
	f.mu.Unlock()
	if p == nil {
		return nil
	}
	select {
	case <-p.ready:
		return p
	default:
		return nil
	}
}

// Reach implements fabric.Sharer.
func (f *Fabric) Reach(peer int, h fabric.Handle, n int) ([]byte, error) {
	p := f.met(peer)
	if p == nil || p.home == nil {
		return nil, fmt.Errorf("shm: no memory is shared with rank %d", peer)
	}
	h[len(h)-1] = 0
	fd, serial := binary.LittleEndian.Uint32(h[0:]), binary.LittleEndian.Uint32(h[4:])
	off := binary.LittleEndian.Uint64(h[8:])
	s := &f.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fabric.ErrClosed
	}
	seg := s.theirs[reach{peer, serial}]
	if seg == nil {
		s.sweep()
		var err error
		if seg, err = attach(p.pid, fd, 0, p.id, uint64(serial)); err != nil {
			return nil, fmt.Errorf("shm: mapping memory of rank %d: %w", peer, err)
		}
		seg.populate()
		if s.theirs == nil {
			s.theirs = map[reach]*segment{}
		}
		s.theirs[reach{peer, serial}] = seg
	}
	if size := uint64(len(seg.body())); off > size || uint64(n) > size-off {
		return nil, fmt.Errorf("shm: rank %d names %d bytes at %d of %d", peer, n, off, size)
	}
	return seg.body()[off:][:n:n], nil
}

// sweep lets go of what peers have freed.
func (s *sharing) sweep() {
	for k, seg := range s.theirs {
		if seg.header().freed.Load() != 0 {
			seg.close()
			delete(s.theirs, k)
		}
	}
}

// close unmaps everything.
func (s *sharing) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for i := range s.own {
		s.own[i].release()
	}
	for _, seg := range s.theirs {
		seg.close()
	}
	s.own, s.theirs = nil, nil
}
