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
	f *Fabric

	mu     sync.Mutex
	own    []allocation         // by address
	theirs map[foreign]*segment // what was mapped of peers
	closed bool

	fetching     sync.Mutex // held while memory of a peer is being mapped
	unregistered sync.Once  // the warning that the bootstrap copies

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
	registered bool // with the bootstrap

	passed  []int  // the peers that have it
	sharers uint32 // how many peers there were then
}

// foreign names memory of a peer.
type foreign struct {
	peer   int
	serial uint32
}

// Alloc implements fabric.Fabric. The memory is registered with the bootstrap, so that it
// crosses to other machines without a copy, too, if it can. Where no memory can be shared
// it is that of the bootstrap.
func (f *Fabric) Alloc(n int) ([]byte, error) {
	switch {
	case f.home == nil:
		return f.cfg.Bootstrap.Alloc(n)
	case n <= 0:
		return nil, fmt.Errorf("shm: allocating %d bytes: ask for at least one", n)
	}
	return f.shared.alloc(n)
}

func (s *sharing) alloc(n int) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fabric.ErrClosed
	}
	a := allocation{serial: uint32(s.f.nextSerial())}
	seg, err := newSegment(n, s.f.id, uint64(a.serial))
	if err != nil {
		return nil, err
	}
	seg.populate()
	b := seg.body()
	a.seg, a.start = seg, addressOf(b)
	a.end = a.start + uintptr(len(b))
	if err := s.f.cfg.Bootstrap.Register(b); err == nil {
		a.registered = true
	} else {
		s.unregistered.Do(func() {
			s.f.cfg.Logger.Warn("memory of Alloc cannot be registered, so it is copied on its way to other machines",
				"over", s.f.cfg.Bootstrap.Name(), "why", err)
		})
	}
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

// Free implements fabric.Fabric. Peers let go of their mappings when they next map
// something.
func (f *Fabric) Free(b []byte) error {
	if f.home == nil {
		return f.cfg.Bootstrap.Free(b)
	}
	return f.shared.free(b)
}

func (s *sharing) free(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.find(addressOf(b))
	if !ok || s.own[i].start != addressOf(b) {
		return errors.New("shm: freeing memory that Alloc did not return")
	}
	a := s.own[i]
	for _, peer := range a.passed {
		s.f.met(peer).passage.withdraw(uint64(a.serial))
	}
	s.own = slices.Delete(s.own, i, i+1)
	var err error
	if a.registered {
		err = s.f.cfg.Bootstrap.Unregister(a.seg.body())
	}
	a.release()
	return err
}

// release gives up the memory, which must not be registered any more.
func (a *allocation) release() {
	a.seg.header().freed.Store(1)
	a.seg.close()
}

// Register implements fabric.Fabric: it is the bootstrap that may need it.
func (f *Fabric) Register(b []byte) error { return f.cfg.Bootstrap.Register(b) }

// Unregister implements fabric.Fabric.
func (f *Fabric) Unregister(b []byte) error { return f.cfg.Bootstrap.Unregister(b) }

// share names memory of Alloc to peers.
func (s *sharing) share(b []byte) (h fabric.Handle, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := addressOf(b)
	i, ok := s.find(at)
	if !ok || at+uintptr(len(b)) > s.own[i].end {
		return h, false
	}
	a := &s.own[i]
	if n := s.f.sharers.Load(); n != a.sharers {
		s.passTo(a)
		a.sharers = n
	}
	copy(h[0:4], s.f.id[:]) // no other rank's memory has a handle like that
	binary.LittleEndian.PutUint32(h[4:], a.serial)
	binary.LittleEndian.PutUint64(h[8:], uint64(at-a.start))
	return h, true
}

// passTo passes an allocation to all peers that do not have it and could map it. One to
// which that fails is gone, or will say that it did not arrive.
func (s *sharing) passTo(a *allocation) {
	for peer := range s.f.Size() {
		p := s.f.met(peer)
		if p == nil || p.home == nil || slices.Contains(a.passed, peer) {
			continue
		}
		if err := p.passage.pass(uint64(a.serial), a.seg); err != nil {
			s.f.cfg.Logger.Debug("memory of Alloc cannot be shared", "peer", peer, "why", err)
			continue
		}
		a.passed = append(a.passed, peer)
	}
}

// reach returns the n bytes that a peer has named.
func (s *sharing) reach(p *pair, h fabric.Handle, n int) ([]byte, error) {
	h[len(h)-1] = 0
	if !bytes.Equal(h[0:4], p.id[0:4]) {
		return nil, fmt.Errorf("shm: rank %d names no memory of its own", p.peer)
	}
	serial, off := binary.LittleEndian.Uint32(h[4:]), binary.LittleEndian.Uint64(h[8:])
	seg, err := s.mapped(foreign{p.peer, serial})
	if err == nil && seg == nil {
		seg, err = s.fetch(p, foreign{p.peer, serial})
	}
	if err != nil {
		return nil, err
	}
	if size := uint64(len(seg.body())); off > size || uint64(n) > size-off {
		return nil, fmt.Errorf("shm: rank %d names %d bytes at %d of %d", p.peer, n, off, size)
	}
	return seg.body()[off:][:n:n], nil
}

// mapped returns memory of a peer, if it is mapped already.
func (s *sharing) mapped(k foreign) (*segment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fabric.ErrClosed
	}
	return s.theirs[k], nil
}

// fetch maps memory of a peer, which has passed it before it named it.
func (s *sharing) fetch(p *pair, k foreign) (*segment, error) {
	s.fetching.Lock()
	defer s.fetching.Unlock()
	if seg, err := s.mapped(k); seg != nil || err != nil { // somebody else was faster
		return seg, err
	}
	seg, err := p.fetch(s.f.ctx, uint64(k.serial), 0)
	if err == nil && seg.header().freed.Load() != 0 {
		seg.close()
		err = errors.New("it was freed")
	}
	if err != nil {
		return nil, fmt.Errorf("shm: mapping memory of rank %d: %w", k.peer, err)
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
		s.theirs = map[foreign]*segment{}
	}
	s.theirs[k] = seg
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

// close unmaps everything. The bootstrap, where some of it is registered, is closed before.
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
