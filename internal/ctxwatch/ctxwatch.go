// Package ctxwatch watches the context that a sequence of calls passes.
//
// Calls on a link usually pass the same context again and again. Registering with it
// (context.AfterFunc) on every call would allocate, so a Watch registers once and
// again only when the context changes.
package ctxwatch

import "context"

// A Watch calls a function when the context of the latest call ends. It must not be
// used concurrently: the lock of the caller guards it.
type Watch struct {
	ended func()
	done  <-chan struct{} // of the context that is watched
	stop  func() bool     // unregisters from it
}

// New returns a Watch that calls ended, in a goroutine of its own, when the watched
// context ends. A context that ended just before it was replaced may still cause a
// call, so ended should do no more than make its user look at the context.
func New(ended func()) Watch { return Watch{ended: ended} }

// Set watches ctx from now on. It costs nothing when ctx is being watched already.
func (w *Watch) Set(ctx context.Context) {
	if ctx.Done() != w.done {
		w.replace(ctx)
	}
}

func (w *Watch) replace(ctx context.Context) {
	w.Clear()
	if w.done = ctx.Done(); w.done != nil {
		w.stop = context.AfterFunc(ctx, w.ended)
	}
}

// Clear stops watching.
func (w *Watch) Clear() {
	if w.stop != nil {
		w.stop()
	}
	w.done, w.stop = nil, nil
}
