package patience

import (
	"sync"
	"time"
)

// A Pulse notices when its process does not get to run, by how late its own timers are.
type Pulse struct {
	every time.Duration
	stop  chan struct{}
	done  sync.WaitGroup

	mu    sync.Mutex
	last  time.Time
	worst time.Duration
}

// NewPulse begins to measure, with a timer that often, until Stop.
func NewPulse(every time.Duration) *Pulse {
	p := &Pulse{every: every, stop: make(chan struct{}), last: time.Now()}
	p.done.Go(func() {
		for {
			select {
			case <-time.After(every):
				p.note(true)
			case <-p.stop:
				return
			}
		}
	})
	return p
}

// note takes note of how late the timer is.
func (p *Pulse) note(fired bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.worst = max(p.worst, now.Sub(p.last)-p.every)
	if fired {
		p.last = now
	}
}

// Worst returns by how much the latest timer since the last call was late.
func (p *Pulse) Worst() time.Duration {
	p.note(false)
	p.mu.Lock()
	defer p.mu.Unlock()
	worst := p.worst
	p.worst = 0
	return worst
}

// Stop ends the measurement.
func (p *Pulse) Stop() {
	close(p.stop)
	p.done.Wait()
}
