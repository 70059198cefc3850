package tcp

import (
	"context"
	"sync"
	"sync/atomic"
)

// watch interrupts the call under way on one side of a link when its context
// ends. The context is registered with once, however many calls use it, so the
// usual call costs two atomic stores.
type watch struct {
	// interrupt(true) makes blocked socket calls return; interrupt(false) lets
	// later ones block again.
	interrupt func(stop bool)

	done <-chan struct{} // of the context registered with; used by the side's user only
	busy atomic.Bool     // a call is under way

	mu    sync.Mutex
	turn  int         // counts registrations
	fired bool        // interrupt was called
	off   func() bool // unregisters from ctx
}

// begin is called before a call touches the sockets. Its error is the cause of a
// context that has ended already.
func (w *watch) begin(ctx context.Context) error {
	if ctx.Done() != w.done {
		w.register(ctx)
	}
	w.busy.Store(true)
	// After busy is set: a context that ends from here on interrupts us.
	if ctx.Err() != nil {
		w.busy.Store(false)
		return context.Cause(ctx)
	}
	return nil
}

// end is called after the call.
func (w *watch) end() { w.busy.Store(false) }

func (w *watch) register(ctx context.Context) {
	w.stop()
	w.done = ctx.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fired {
		// The old context ended just as its last call succeeded.
		w.fired = false
		w.interrupt(false)
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
			w.interrupt(true)
		}
	})
}

// stop lets go of the context.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.off != nil {
		w.off()
		w.off = nil
	}
}
