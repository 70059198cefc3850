package shm

import (
	"context"
	"maps"
	"slices"
	"time"

	"thundercollective/internal/spin"
)

// moveRetry is how often a link that is in use is looked at again.
const moveRetry = 100 * time.Microsecond

// A mover moves the posted messages of a link on in the background. It is needed where
// some peers share no memory: a rank that waits for one of those waits on the bootstrap,
// where nothing moves what is posted here. Its goroutine is started when it is first
// needed, and parked while nothing is posted.
type mover struct {
	work chan struct{} // wakes the goroutine; nil until there is one
	spin spin.Spinner
}

// start wakes the goroutine. The caller holds out.mu, and the link is open.
func (m *mover) start(l *link) {
	if m.work == nil {
		m.work = make(chan struct{}, 1)
		m.spin = l.out.spin
		l.watcher.Go(func() { m.run(l, m.work) })
	}
	select {
	case m.work <- struct{}{}:
	default:
	}
}

func (m *mover) run(l *link, work <-chan struct{}) {
	for {
		select {
		case <-work:
		case <-l.quit:
			return
		}
		// An error is for whoever awaits the messages to find.
		_ = l.progress.wait(context.Background(), l, (*allMoved)(l), &m.spin)
	}
}

// allMoved is the condition that nothing is left of what was posted on a link.
type allMoved link

func (c *allMoved) met() bool {
	l := (*link)(c)
	if !l.out.mu.TryLock() {
		return false // whoever has it is moving the messages on
	}
	defer l.out.mu.Unlock()
	if l.out.remaining() > 0 {
		l.advance()
	}
	return l.out.remaining() == 0
}

// mix notes that some peers share no memory, and has what is posted already moved on.
func (f *Fabric) mix() {
	if f.mixed.Swap(true) {
		return
	}
	f.mu.Lock()
	all := slices.Collect(maps.Values(f.progresses))
	f.mu.Unlock()
	for _, p := range all {
		if links := p.links.Load(); links != nil {
			for _, l := range *links {
				l.move(f.ctx)
			}
		}
	}
}

// move has the mover move on what is posted, as soon as nobody else does.
func (l *link) move(ctx context.Context) {
	for l.out.waiting.Load() && !l.closed.Load() && ctx.Err() == nil {
		if l.out.mu.TryLock() {
			if !l.closed.Load() {
				l.mover.start(l)
			}
			l.out.mu.Unlock()
			return
		}
		time.Sleep(moveRetry)
	}
}
