package rdma

import (
	"context"
	"time"

	"thundercollective/internal/ctxwatch"
	"thundercollective/internal/spin"
)

// A side is one direction of a link, as its caller sees it. It is guarded by
// Link.mu.
type side struct {
	l      *Link
	ctx    context.Context // of the call under way; nil if there is none
	watch  ctxwatch.Watch  // of the context of the latest call
	spin   spin.Spinner
	broken error // set once the direction is over
	parked bool
	poked  bool // something happened while the caller was polling
	wake   chan struct{}
	timer  *time.Timer // where there are no events
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

// end ends it.
func (s *side) end() {
	s.ctx = nil
	s.l.leave()
}

// cause returns the error of a context that has ended during a call; nil if none has.
func (s *side) cause() error {
	if s.ctx == nil || s.ctx.Err() == nil {
		return nil
	}
	return context.Cause(s.ctx)
}

// notify tells the side that its caller should look again.
func (s *side) notify() {
	if !s.parked {
		s.poked = true
		return
	}
	select {
	case s.wake <- struct{}{}:
	default: // it has been told
	}
}

// enter begins a call on one side.
func (l *Link) enter() { l.busy++ }

// leave ends it. What is still to be done without a caller is provided for.
func (l *Link) leave() {
	l.busy--
	if l.closed && l.busy == 0 {
		l.left.Broadcast()
	}
	l.engine.attend()
}
