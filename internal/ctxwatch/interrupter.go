package ctxwatch

import (
	"context"
	"sync"
	"sync/atomic"
)

// An Interrupter interrupts a call that blocks, in the system for instance, when the
// context of the call ends. It serves one call at a time. However many calls use the same
// context, it registers with it once, so the usual call costs two atomic stores. It is a
// Watch for callers that hold no lock, and that must not be interrupted for nothing.
type Interrupter struct {
	// Interrupt makes the blocked call return, because of why; Interrupt(nil) lets later
	// calls block again. It is set before the first use.
	Interrupt func(why error)

	done <-chan struct{} // of the context registered with; used by the caller only
	busy atomic.Bool     // a call is under way

	mu    sync.Mutex
	turn  int         // counts registrations
	fired bool        // a call was interrupted
	off   func() bool // unregisters
}

// Begin comes before a call that may block. Its error is the cause of a context that has
// ended already.
func (w *Interrupter) Begin(ctx context.Context) error {
	if ctx.Done() != w.done {
		w.register(ctx)
	}
	w.busy.Store(true)
	// After busy is set: a context that ends from here on interrupts the call.
	if ctx.Err() != nil {
		w.busy.Store(false)
		return context.Cause(ctx)
	}
	return nil
}

// End comes after the call.
func (w *Interrupter) End() { w.busy.Store(false) }

func (w *Interrupter) register(ctx context.Context) {
	w.Stop()
	w.done = ctx.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fired {
		// The old context ended just as its last call succeeded.
		w.fired = false
		w.Interrupt(nil)
	}
	w.turn++
	if w.done == nil {
		return
	}
	turn := w.turn
	w.off = context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		// A context that ended after its last call may come too late to be
		// unregistered, and must not end a call of the next one.
		if w.turn == turn && w.busy.Load() {
			w.fired = true
			w.Interrupt(context.Cause(ctx))
		}
	})
}

// Stop unregisters.
func (w *Interrupter) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.off != nil {
		w.off()
		w.off = nil
	}
}
