package shm

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"thundercollective/internal/spin"
)

// A hub is what the links of one channel share: where their users sleep,
// and the messages that wait to be moved on.
type hub struct {
	bed     *bed         // where they sleep
	start   time.Time    // of the clock that polling is measured by
	backlog atomic.Int32 // links with posted messages that are not yet taken

	links atomic.Pointer[[]*link] // replaced, never changed

	mu   sync.Mutex
	gone bool // the bell is no longer there
}

// interrupt makes whoever waits look up. Unlike the bell itself it may be used when
// the fabric is closed: contexts end when they like.
func (h *hub) interrupt() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.gone {
		h.bed.ring()
	}
}

// close ends interrupts, before the bell goes.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = true
}

func (h *hub) add(l *link) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*link
	if old := h.links.Load(); old != nil {
		all = append(all, *old...)
	}
	all = append(all, l)
	h.links.Store(&all)
}

func (h *hub) remove(l *link) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*link
	for _, k := range *h.links.Load() {
		if k != l {
			all = append(all, k)
		}
	}
	h.links.Store(&all)
}

// push moves posted messages on, and says whether any moved.
func (h *hub) push() bool {
	if h.backlog.Load() == 0 {
		return false
	}
	moved := false
	for _, l := range *h.links.Load() {
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
	// eagerLooks is how many looks go by before the processor is offered to others
	// between them: about a microsecond, the time that a peer on another core needs
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

// wait returns nil when c is met, and why it never will be otherwise. It polls for
// a while, then sleeps.
func (h *hub) wait(ctx context.Context, l *link, c condition, s *spin.Spinner) error {
	if !s.Try() {
		return h.sleep(ctx, l, c)
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
		moved := h.push()
		if looks < eager {
			continue
		}
		if err := l.hopeless(ctx, c); err != nil {
			return err
		}
		yield()
		now := time.Since(h.start)
		if looks == eager || moved {
			until = now + s.Budget
		} else if now > until {
			break
		}
	}
	s.Lost()
	return h.sleep(ctx, l, c)
}

// sleep waits without polling.
func (h *hub) sleep(ctx context.Context, l *link, c condition) error {
	h.bed.sleepers.Add(1)
	defer h.bed.sleepers.Add(^uint32(0))
	for naps := 0; ; naps++ {
		// Read before looking: whoever changes something afterwards changes this.
		rings := h.bed.rings.Load()
		if c.met() {
			return nil
		}
		if h.push() {
			continue
		}
		if err := l.hopeless(ctx, c); err != nil {
			return err
		}
		h.bed.sleep(rings, naps)
	}
}
