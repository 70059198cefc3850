package session

import (
	"sync"
	"sync/atomic"
	"time"

	"thundercollective/internal/liveness"
)

// alive is this rank's part in deciding which ranks are dead: package liveness, with a
// clock, and with the control channel to tell the others.
type alive struct {
	session *Session
	cfg     liveness.Config
	begun   time.Time
	wake    chan struct{} // the monitor has something due

	mu      sync.Mutex
	monitor *liveness.Monitor

	convicting sync.Mutex // see convict

	beats beatCount
}

// beatCount counts heartbeats; received counts everything on the control channel,
// which all proves that its sender lives.
type beatCount struct{ sent, received atomic.Uint64 }

func newAlive(s *Session, cfg liveness.Config) *alive {
	return &alive{session: s, cfg: cfg, begun: time.Now(), wake: make(chan struct{}, 1), monitor: liveness.New(cfg, 0)}
}

// restart has the peers' silence count from now on.
func (a *alive) restart() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun, a.monitor = time.Now(), liveness.New(a.cfg, 0)
}

func (a *alive) now() time.Duration { return time.Since(a.begun) }

// with uses the monitor.
func (a *alive) with(f func(m *liveness.Monitor, now time.Duration)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(a.monitor, a.now())
}

// heard notes that something came from a rank. If that takes back an accusation, the
// others are told soon.
func (a *alive) heard(rank int) {
	withdrawn := false
	a.with(func(m *liveness.Monitor, now time.Duration) { withdrawn = m.Heard(rank, now) })
	if withdrawn {
		a.look()
	}
}

// look has the monitor asked soon.
func (a *alive) look() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// next is how long to sleep before the monitor has to be asked again.
func (a *alive) next() (d time.Duration) {
	d = a.cfg.Tick()
	a.with(func(m *liveness.Monitor, now time.Duration) {
		if due, open := m.Due(); open {
			d = min(d, max(due-now, time.Millisecond))
		}
	})
	return d
}

// take takes evidence against a rank, and has it judged soon. It reports whether
// it is new.
func (a *alive) take(x liveness.Accusation) (fresh bool) {
	a.with(func(m *liveness.Monitor, now time.Duration) { fresh = m.Accuse(x, now) })
	a.look()
	return fresh
}
