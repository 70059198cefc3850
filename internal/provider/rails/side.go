package rails

import (
	"context"
	"sync"

	"thundercollective/fabric"
	"thundercollective/internal/ctxwatch"
)

// A side is what the calls of one direction of a link have in common. It is guarded
// by link.mu.
type side struct {
	l      *link
	wake   *sync.Cond     // of link.mu; whoever waits in a call looks again
	watch  ctxwatch.Watch // of the call's context
	broken error          // what every further call returns
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

// check returns what ends a call: Close at this end, its context, or lost.
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

// close ends the calls under way; link.closed is set.
func (s *side) close() {
	s.watch.Clear()
	s.wake.Broadcast()
}
