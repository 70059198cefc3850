package tcp

import (
	"sync"
	"sync/atomic"

	"thundercollective/fabric"
)

// A backlog is what the solos of one channel share.
type backlog struct {
	waiting atomic.Int32 // solos with posted messages that are not yet taken

	mu    sync.Mutex
	solos atomic.Pointer[[]*solo] // replaced, never changed
}

// backlogs are those of a fabric, by channel.
type backlogs struct {
	mu  sync.Mutex
	all map[fabric.Channel]*backlog
}

func (s *backlogs) get(ch fabric.Channel) *backlog {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.all[ch]
	if b == nil {
		b = &backlog{}
		b.solos.Store(new([]*solo))
		if s.all == nil {
			s.all = map[fabric.Channel]*backlog{}
		}
		s.all[ch] = b
	}
	return b
}

func (b *backlog) add(s *solo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := append([]*solo{s}, *b.solos.Load()...)
	b.solos.Store(&list)
}

func (b *backlog) remove(s *solo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []*solo
	for _, x := range *b.solos.Load() {
		if x != s {
			list = append(list, x)
		}
	}
	b.solos.Store(&list)
}

// push moves posted messages on, and reports whether any moved.
func (b *backlog) push() (moved bool) {
	if b.waiting.Load() == 0 {
		return false
	}
	for _, s := range *b.solos.Load() {
		if s.waiting.Load() && s.mu.TryLock() {
			moved = s.advance() || moved
			s.mu.Unlock()
		}
	}
	return moved
}
