package rails

import (
	"context"
	"sync"

	"thundercollective/fabric"
	"thundercollective/internal/ctxwatch"
)

// A side is the state that sender and receiver have in common: the context of the call
// under way and why calls fail. It is guarded by link.mu.
type side struct {
	l      *link
	wake   *sync.Cond     // of link.mu; wakes the call that waits
	watch  ctxwatch.Watch // of the call's context
	broken error          // returned by every further call
}

func newSide(l *link) side {
	wake := sync.NewCond(&l.mu)
	return side{l: l, wake: wake, watch: ctxwatch.New(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		wake.Broadcast()
	})}
}

// begin prepares a call with ctx.
func (s *side) begin(ctx context.Context) error {
	if s.broken != nil {
		return s.broken
	}
	s.watch.Set(ctx)
	return s.check(ctx, nil)
}

// check returns the error that ends a call, or nil: the link is closed, ctx has ended,
// or lost is not nil.
func (s *side) check(ctx context.Context, lost error) error {
	switch {
	case s.l.closed:
		s.broken = fabric.ErrClosed
	case ctx.Err() != nil:
		s.broken = context.Cause(ctx)
	case lost != nil:
		s.broken = lost
	}
	return s.broken
}

// close wakes the call under way, which then finds link.closed set.
func (s *side) close() {
	s.watch.Clear()
	s.wake.Broadcast()
}
