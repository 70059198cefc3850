package shm

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// An alarm wakes goroutines of this process, where there are no futexes.
type alarm struct {
	mu     sync.Mutex
	asleep []*sleeper
	spare  []*sleeper
}

// A sleeper is what one goroutine at a time sleeps with.
type sleeper struct {
	woken chan struct{} // has room for one
	timer *time.Timer
}

// wake wakes all who sleep.
func (a *alarm) wake() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.asleep {
		s.woken <- struct{}{}
	}
	a.asleep = a.asleep[:0]
}

// wait sleeps for at most a nap, and not at all if *rings is no longer old: who changes it
// wakes afterwards.
func (a *alarm) wait(rings *atomic.Uint32, old uint32, nap time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if rings.Load() != old {
		return
	}
	s := a.lieDown()
	a.mu.Unlock()
	s.timer.Reset(nap)
	select {
	case <-s.woken:
	case <-s.timer.C:
	}
	s.timer.Stop()
	a.mu.Lock()
	a.getUp(s)
}

// lieDown adds a sleeper.
func (a *alarm) lieDown() *sleeper {
	var s *sleeper
	if n := len(a.spare); n > 0 {
		s, a.spare = a.spare[n-1], a.spare[:n-1]
	} else {
		s = &sleeper{woken: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	}
	a.asleep = append(a.asleep, s)
	return s
}

// getUp takes a sleeper back that was woken, or whose nap is over.
func (a *alarm) getUp(s *sleeper) {
	if i := slices.Index(a.asleep, s); i >= 0 {
		a.asleep = slices.Delete(a.asleep, i, i+1)
	}
	select {
	case <-s.woken: // woken just after the nap was over
	default:
	}
	a.spare = append(a.spare, s)
}
