package group

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"thundercollective/fabric"
	"thundercollective/internal/recorder"
	"thundercollective/internal/ticks"
)

// An activity is a sequence of operations of a group: its collectives, or its messages in
// one direction to one peer. Deadlines are checked on it.
//
// Operations take turns. The one that has the turn begins and ends here without a lock or
// a fence, so as not to delay the message that is going out at the same time.
type activity struct {
	peer uint32 // as in a call
	in   bool

	past atomic.Pointer[recorder.Ring] // what was and is done; nil if nothing was

	// The caller's context registered with, its Done channel, and a number for it: the
	// same context used again costs nothing. Who has the turn writes it under mu.
	ctx      context.Context
	watched  <-chan struct{}
	watching uint64

	mu    sync.Mutex // around what follows
	aside prelude
	asked question
	off   func() bool
}

// A prelude is work for an operation before the operation is recorded.
type prelude struct {
	active bool
	call   call
	since  int64
	under  uint64
}

// A question is the last one that the peers were asked about an operation.
type question struct {
	seq uint64
	at  time.Duration // after it had begun
}

// begin notes that an operation runs under the caller's ctx from now on. The first to or
// from a peer makes room for those to come.
func (t *activity) begin(g *Group, ctx context.Context, seq uint64, tag *fabric.Tag, now int64) {
	past := t.past.Load()
	if past == nil {
		past = recorder.NewRing(historyPair)
		t.past.Store(past)
	}
	past.Begin(seq, tag, now, t.under(g, ctx))
}

// end notes that it is over.
func (t *activity) end(seq uint64, took int64, err error) {
	state := recorder.Done
	if err != nil {
		state = recorder.Failed
	}
	t.past.Load().End(seq, took, state)
}

// beginAside notes that something is done in the name of an operation that begins only
// then.
func (t *activity) beginAside(g *Group, ctx context.Context, a call, now int64) {
	under := t.under(g, ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.aside = prelude{true, a, now, under}
}

// endAside notes that it is over.
func (t *activity) endAside() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.aside.active = false
}

// under sees to it that the end of the caller's ctx ends the operation, and returns the
// ctx's number: 0 for one that does not end.
func (t *activity) under(g *Group, ctx context.Context) uint64 {
	if identical(ctx, t.ctx) {
		return t.watching
	}
	done := ctx.Done()
	if done == nil {
		return 0
	}
	if done != t.watched {
		t.watch(g, ctx, done)
	}
	return t.watching
}

// identical reports whether two contexts are the same one, without asking them and also if
// they cannot be compared; copies of one that is no pointer are not.
func identical(a, b context.Context) bool {
	x, y := (*[2]unsafe.Pointer)(unsafe.Pointer(&a)), (*[2]unsafe.Pointer)(unsafe.Pointer(&b))
	return x[1] == y[1] && x[0] == y[0]
}

func (t *activity) watch(g *Group, ctx context.Context, done <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.off != nil {
		t.off()
	}
	t.watched, t.ctx = done, ctx
	t.watching++
	number := t.watching
	t.off = context.AfterFunc(ctx, func() { t.endUnder(g, ctx, number) })
}

// endUnder ends the operation if it runs under a ctx, which has ended.
func (t *activity) endUnder(g *Group, ctx context.Context, number uint64) {
	clock := g.cfg.Clock.Read()
	if o, ok := t.running(); ok && o.under == number {
		g.FailAll(g.ended(context.Cause(ctx), o.call, time.Now().Add(-clock.Ago(o.since))))
	}
}

// abandoned ends the operation if its ctx has ended unnoticed: it began at
// the very moment.
func (t *activity) abandoned(g *Group) {
	t.mu.Lock()
	ctx, number := t.ctx, t.watching
	t.mu.Unlock()
	if ctx != nil && ctx.Err() != nil {
		t.endUnder(g, ctx, number)
	}
}

// running returns the operation under way.
func (t *activity) running() (prelude, bool) {
	if aside := t.prelude(); aside.active {
		return aside, true
	}
	past := t.past.Load()
	if past == nil {
		return prelude{}, false
	}
	e := past.Latest()
	return prelude{call: t.callOf(&e), since: e.Begin, under: e.For}, e.Seq != 0 && e.State == recorder.Running
}

// callOf returns the call of an entry.
func (t *activity) callOf(e *recorder.Entry) call {
	a := callOf(&e.Tag)
	a.peer, a.in = t.peer, t.in
	return a
}

// recorded returns the tag of operation seq, if it was begun and is not long past.
func (t *activity) recorded(seq uint64) (fabric.Tag, bool) {
	if e, ok := t.past.Load().Get(seq); ok {
		return e.Tag, true
	}
	if p := t.prelude(); p.call.seq == seq && seq != 0 {
		return p.call.tag(), true
	}
	return fabric.Tag{}, false
}

// latest returns the number and tag of the last operation begun, if only its prelude.
func (t *activity) latest() (uint64, fabric.Tag) {
	p := t.prelude()
	e := t.past.Load().Latest()
	if p.call.seq > e.Seq {
		return p.call.seq, p.call.tag()
	}
	return e.Seq, e.Tag
}

// prelude returns the last prelude.
func (t *activity) prelude() prelude {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.aside
}

// entries returns the operations that are recorded, oldest first.
func (t *activity) entries() []recorder.Entry {
	if past := t.past.Load(); past != nil {
		return past.Entries()
	}
	return nil
}

// overdue returns the operation and when it began, if it has taken longer than limit.
func (t *activity) overdue(clock ticks.Reading, limit time.Duration) (call, time.Time, bool) {
	o, ok := t.running()
	ago := clock.Ago(o.since)
	return o.call, time.Now().Add(-ago), ok && ago > limit
}

// stalled returns the operation if it is time to ask the peers about it: it has
// run for longer than every, and so has the last such question.
func (t *activity) stalled(clock ticks.Reading, every time.Duration) (call, bool) {
	o, ok := t.running()
	if !ok {
		return call{}, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	ago := clock.Ago(o.since)
	if t.asked.seq != o.call.seq || ago < t.asked.at {
		t.asked = question{seq: o.call.seq}
	}
	if ago-t.asked.at < every {
		return call{}, false
	}
	t.asked.at = ago
	return o.call, true
}

// release lets go of the caller's context.
func (t *activity) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.off != nil {
		t.off()
	}
}

// operation returns what is, or was last, under way.
func (t *activity) operation() call {
	o, _ := t.running()
	return o.call
}
