package tcp

import (
	"context"

	"thundercollective/fabric"
)

// A flusher writes in the background what Post could not write at once, for a solo whose
// user may wait where nothing moves the backlog on (Config.Background). Its goroutine is
// started when it is first needed, and parked while there is nothing to write.
type flusher struct {
	s       *solo
	started bool          // under s.mu
	work    chan struct{} // wakes the goroutine
	moved   chan struct{} // wakes Await: buffers have come back
	step    func(uintptr) bool
}

func newFlusher(s *solo) *flusher {
	f := &flusher{s: s, work: make(chan struct{}, 1), moved: make(chan struct{}, 1)}
	f.step = f.flushed
	return f
}

// start wakes the goroutine. The caller holds s.mu.
func (f *flusher) start() {
	if !f.started {
		f.started = f.s.hireOne(f.run)
	}
	wake(f.work)
}

// notify wakes Await.
func (f *flusher) notify() { wake(f.moved) }

// wake leaves a token for the one goroutine that waits on c, or will.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run is the goroutine.
func (f *flusher) run() {
	s := f.s
	for {
		select {
		case <-f.work:
		case <-s.quit:
			return
		}
		if err := s.sock.out.pass(f.step, false); err != nil {
			s.mu.Lock()
			s.broke(&socketError{err})
			s.mu.Unlock()
			return
		}
	}
}

// flushed writes what the socket takes, and reports whether nothing is left.
func (f *flusher) flushed(uintptr) bool {
	s := f.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.remaining() > 0 {
		s.advance()
	}
	return s.remaining() == 0
}

// await is Await of the solo, for messages that the goroutine writes.
func (f *flusher) await(ctx context.Context, left int) error {
	for {
		if few, err := f.few(left); few {
			return err
		}
		select {
		case <-f.moved:
		case <-ctx.Done():
			return f.giveUp(context.Cause(ctx))
		case <-f.s.quit:
			return f.giveUp(fabric.ErrClosed)
		}
	}
}

// few reports whether at most left messages remain.
func (f *flusher) few(left int) (bool, error) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	return f.s.remaining() <= left, f.s.send.broken
}

// giveUp ends the sending side.
func (f *flusher) giveUp(why error) error {
	s := f.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.send.broken == nil {
		s.send.broken = why
	}
	s.drop()
	return s.send.broken
}
