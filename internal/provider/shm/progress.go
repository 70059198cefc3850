package shm

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"thundercollective/internal/spin"
)

// A progress is what the links of one channel share: where their users sleep,
// and the messages that wait to be moved on.
type progress struct {
	bell    *ownBell     // where they sleep
	start   time.Time    // of the clock that polling is measured by
	backlog atomic.Int32 // links with posted messages that are not yet taken

	links atomic.Pointer[[]*link] // replaced, never changed

	mu   sync.Mutex
	gone bool // the bell is no longer there
}

// interrupt makes whoever waits look up. Unlike the bell itself it may be used when
// the fabric is closed: contexts end when they like.
func (p *progress) interrupt() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		p.bell.ring()
	}
}

// close ends interrupts, before the bell goes.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
}

func (p *progress) add(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*link
	if old := p.links.Load(); old != nil {
		all = append(all, *old...)
	}
	all = append(all, l)
	p.links.Store(&all)
}

func (p *progress) remove(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*link
	for _, k := range *p.links.Load() {
		if k != l {
			all = append(all, k)
		}
	}
	p.links.Store(&all)
}

// push moves posted messages on, and reports whether any moved.
func (p *progress) push() bool {
	if p.backlog.Load() == 0 {
		return false
	}
	moved := false
	for _, l := range *p.links.Load() {
		if l.out.waiting.Load() && l.out.mu.TryLock() {
			moved = l.advance() || moved
			l.out.mu.Unlock()
		}
	}
	return moved
}

// A condition is what a call waits for. It is polled by one goroutine.
type condition interface{ met() bool }

const (
	// pollsPerLook is how often a condition is polled between looks at the clock
	// and at what else could end the wait.
	pollsPerLook = 64
	// eagerLooks is how many looks go by before the processor is yielded between
	// them: about a microsecond, the time that a peer on another core needs
	// to answer. When it takes longer, the peer may be waiting for this very core.
	eagerLooks = 16
	// pollsWhenShared is pollsPerLook for a rank whose peers wait for its core, and
	// pollsElsewhere if those it waits for do not: about as long as it takes to change
	// tasks and back.
	pollsWhenShared = 4
	pollsElsewhere  = 512
)

// A distant condition may know that what it waits for comes from other cores.
type distant interface {
	condition
	elsewhere() bool
}

// wait returns nil when c is met, or why it never will be. It polls for a while, then
// sleeps.
func (p *progress) wait(ctx context.Context, l *link, c condition, s *spin.Spinner) error {
	if !s.Try() {
		return p.sleep(ctx, l, c)
	}
	polls, eager := pollsPerLook, eagerLooks
	var far distant
	if s.Shared {
		polls, eager = pollsWhenShared, 0
		far, _ = c.(distant)
	}
	var until time.Duration
	for looks := 0; ; looks++ {
		if far != nil {
			polls = pollsWhenShared
			if far.elsewhere() {
				polls = pollsElsewhere
			}
		}
		for range polls {
			if c.met() {
				s.Won()
				return nil
			}
		}
		moved := p.push()
		if looks < eager {
			continue
		}
		if err := l.hopeless(ctx, c); err != nil {
			return err
		}
		yield()
		now := time.Since(p.start)
		if looks == eager || moved {
			until = now + s.Budget
		} else if now > until {
			break
		}
	}
	s.Lost()
	return p.sleep(ctx, l, c)
}

// sleep waits without polling.
func (p *progress) sleep(ctx context.Context, l *link, c condition) error {
	p.bell.sleepers.Add(1)
	defer p.bell.sleepers.Add(^uint32(0))
	for naps := 0; ; naps++ {
		// Read before looking: whoever changes something afterwards changes this.
		rings := p.bell.rings.Load()
		if c.met() {
			return nil
		}
		if p.push() {
			continue
		}
		if err := l.hopeless(ctx, c); err != nil {
			return err
		}
		p.bell.sleep(rings, naps)
	}
}
