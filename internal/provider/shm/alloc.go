package shm

import (
	"bytes"
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
	own    []allocation       // by address
	theirs map[reach]*segment // what was mapped of peers
	closed bool

	fetching sync.Mutex // held while memory of a peer is being mapped

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

	passed   []int  // the peers that have it
	meetings uint32 // how many peers there were then
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
	var b []byte
	a := allocation{serial: uint32(f.nextSerial())}
	if f.home == nil {
		b = make([]byte, max(n, 1))
		a.heap = b
	} else {
		seg, err := newSegment(max(n, 1), f.id, uint64(a.serial))
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
	for _, peer := range s.own[i].passed {
		f.met(peer).passage.withdraw(uint64(s.own[i].serial))
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
	if n := f.meetings.Load(); n != a.meetings {
		f.passTo(a)
		a.meetings = n
	}
	copy(h[0:4], f.id[:]) // no other rank's memory has a handle like that
	binary.LittleEndian.PutUint32(h[4:], a.serial)
	binary.LittleEndian.PutUint64(h[8:], uint64(at-a.start))
	return h, true
}

// passTo passes an allocation to all peers that do not have it and could map it. One to
// which that fails is gone, or will say that it did not arrive.
func (f *Fabric) passTo(a *allocation) {
	for peer := range f.Size() {
		if peer == f.Rank() || !f.Shares(peer) || slices.Contains(a.passed, peer) {
			continue
		}
		if err := f.met(peer).passage.pass(uint64(a.serial), a.seg); err != nil {
			f.cfg.Logger.Debug("memory of Alloc cannot be shared", "peer", peer, "why", err)
			continue
		}
		a.passed = append(a.passed, peer)
	}
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
	if !bytes.Equal(h[0:4], p.id[0:4]) {
		return nil, fmt.Errorf("shm: rank %d names no memory of its own", peer)
	}
	serial, off := binary.LittleEndian.Uint32(h[4:]), binary.LittleEndian.Uint64(h[8:])
	seg, err := f.shared.theirsAt(reach{peer, serial})
	if err == nil && seg == nil {
		seg, err = f.fetch(p, reach{peer, serial})
	}
	if err != nil {
		return nil, err
	}
	if size := uint64(len(seg.body())); off > size || uint64(n) > size-off {
		return nil, fmt.Errorf("shm: rank %d names %d bytes at %d of %d", peer, n, off, size)
	}
	return seg.body()[off:][:n:n], nil
}

// theirsAt returns memory of a peer, if it is mapped already.
func (s *sharing) theirsAt(r reach) (*segment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fabric.ErrClosed
	}
	return s.theirs[r], nil
}

// fetch maps memory of a peer, which has passed it before it named it.
func (f *Fabric) fetch(p *pair, r reach) (*segment, error) {
	s := &f.shared
	s.fetching.Lock()
	defer s.fetching.Unlock()
	if seg, err := s.theirsAt(r); seg != nil || err != nil { // somebody else was faster
		return seg, err
	}
	seg, err := p.fetch(f.ctx, uint64(r.serial), 0)
	if err == nil && seg.header().freed.Load() != 0 {
		seg.close()
		err = errors.New("it was freed")
	}
	if err != nil {
		return nil, fmt.Errorf("shm: mapping memory of rank %d: %w", r.peer, err)
	}
	seg.populate()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		seg.close()
		return nil, fabric.ErrClosed
	}
	s.sweep()
	if s.theirs == nil {
		s.theirs = map[reach]*segment{}
	}
	s.theirs[r] = seg
	return seg, nil
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
