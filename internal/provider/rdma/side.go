package rdma

import (
	"context"
	"time"

	"thundercollective/internal/ctxwatch"
	"thundercollective/internal/spin"
)

// A side is the state that sender and receiver have in common: the call under way and
// how it waits. It is guarded by Link.mu.
type side struct {
	l      *Link
	ctx    context.Context // of the call under way; nil if there is none
	watch  ctxwatch.Watch  // of the context of the latest call
	spin   spin.Spinner
	broken error // returned by every further call
	parked bool
	poked  bool // notify was called while the caller was polling
	wake   chan struct{}
	timer  *time.Timer // for sleeping without events
}

func (s *side) init(l *Link) {
	s.l = l
	s.spin.Budget = l.f.cfg.Spin
	s.wake = make(chan struct{}, 1)
	s.timer = time.NewTimer(time.Hour)
	s.timer.Stop()
	s.watch = ctxwatch.New(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		s.notify()
	})
}

// begin starts a call with ctx.
func (s *side) begin(ctx context.Context) {
	s.l.enter()
	s.ctx = ctx
	s.watch.Set(ctx)
}

// end ends the call.
func (s *side) end() {
	s.ctx = nil
	s.l.leave()
}

// cause returns why the context of the call under way has ended; nil if it has not.
func (s *side) cause() error {
	if s.ctx == nil || s.ctx.Err() == nil {
		return nil
	}
	return context.Cause(s.ctx)
}

// notify makes the caller of the side check its state again.
func (s *side) notify() {
	if !s.parked {
		s.poked = true
		return
	}
	select {
	case s.wake <- struct{}{}:
	default: // a wake-up is pending
	}
}

// enter begins a call.
func (l *Link) enter() { l.busy++ }

// leave ends a call, and arranges for what has to be done without one.
func (l *Link) leave() {
	l.busy--
	if l.closed && l.busy == 0 {
		l.left.Broadcast()
	}
	l.engine.attend()
}
