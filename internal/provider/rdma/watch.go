package rdma

import "context"

// watch makes the end of a context known to one side of a link. The context is
// registered with once, however many calls use it. It is guarded by Link.mu.
type watch struct {
	ctx    context.Context // the one registered with
	off    func() bool     // unregisters
	inside bool            // a call is under way
	ended  bool            // ctx has ended
}

// begin starts a call with ctx on a side.
func (l *Link) begin(s *side, ctx context.Context) {
	l.enter()
	s.inside = true
	if ctx != s.ctx {
		s.forget()
		s.ctx, s.ended = ctx, false
		if ctx.Done() != nil {
			s.off = context.AfterFunc(ctx, func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				if s.ctx == ctx {
					s.ended = true
					l.notify(s)
				}
			})
		}
	}
	if ctx.Err() != nil {
		s.ended = true
	}
}

// end ends it.
func (l *Link) end(s *side) {
	s.inside = false
	l.leave()
}

// forget lets go of the context.
func (w *watch) forget() {
	if w.off != nil {
		w.off()
	}
	w.off, w.ctx = nil, nil
}

// cause is the error of a context that has ended during a call; nil if none has.
func (w *watch) cause() error {
	if !w.inside || !w.ended {
		return nil
	}
	return context.Cause(w.ctx)
}
