package thunder

import (
	"context"
	"sync"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/recorder"
)

// An activity is the operation that occupies one place of a group: the collectives,
// or one direction to one peer. It is what deadlines and the watchdog look at.
type activity struct {
	mu       sync.Mutex
	active   bool
	call     call
	since    time.Duration // on the clock of clockStart
	deadline time.Duration
	asked    time.Duration // when the peers were last asked where they are
	done     <-chan struct{}

	// The caller's context registered with, by its Done channel; the same
	// context used again costs nothing.
	watched <-chan struct{}
	off     func() bool

	past *recorder.Ring // what was done here, under mu; nil if nothing was
}

// clockStart is where activities count from: reading the time since then takes half
// as long as reading the time of day.
var clockStart = time.Now()

// begin notes that an operation, with its tag if it is to be recorded, runs under the
// caller's ctx from now on. The first to or from a peer makes room for those to come.
func (t *activity) begin(c *Comm, ctx context.Context, a call, tag *fabric.Tag, now time.Duration) {
	done := ctx.Done()
	t.mu.Lock()
	if tag != nil {
		if t.past == nil {
			t.past = recorder.NewRing(rememberedPair)
		}
		t.past.Begin(a.seq, tag, now)
	}
	t.active, t.call, t.since, t.asked, t.done = true, a, now, now, done
	t.deadline = now + c.job.timeout
	if done != nil && done != t.watched {
		t.watch(c, ctx, done)
	}
	t.mu.Unlock()
}

// watch sees to it that the end of the caller's ctx ends the operation. The caller
// holds mu.
func (t *activity) watch(c *Comm, ctx context.Context, done <-chan struct{}) {
	if t.off != nil {
		t.off()
	}
	t.watched = done
	t.off = context.AfterFunc(ctx, func() {
		if a, since, ok := t.under(done); ok {
			c.failAll(c.ended(context.Cause(ctx), a, since))
		}
	})
}

// end notes that it is over.
func (t *activity) end(now time.Duration, err error) {
	t.mu.Lock()
	t.active = false
	if t.past != nil {
		state := recorder.Done
		if err != nil {
			state = recorder.Failed
		}
		t.past.End(t.call.seq, now, state)
	}
	t.mu.Unlock()
}

// recorded returns the tag of operation seq, if it was begun and is not long past.
func (t *activity) recorded(seq uint64) (fabric.Tag, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.past.Get(seq)
}

// latest returns the number and tag of the last operation begun.
func (t *activity) latest() (uint64, fabric.Tag) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.past.Latest()
}

// entries returns the operations that are recorded, oldest first.
func (t *activity) entries() []recorder.Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.past == nil {
		return nil
	}
	return t.past.Entries()
}

// under returns the operation if it runs under the context with that Done channel.
func (t *activity) under(done <-chan struct{}) (call, time.Time, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.call, clockStart.Add(t.since), t.active && t.done == done
}

// overdue returns the operation if its deadline has passed.
func (t *activity) overdue(now time.Time) (call, time.Time, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.call, clockStart.Add(t.since), t.active && now.Sub(clockStart) > t.deadline
}

// stalled returns the operation if it is time to ask the peers about it: it has
// run for longer than every, and so has the last such question.
func (t *activity) stalled(now time.Time, every time.Duration) (call, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := now.Sub(clockStart)
	if !t.active || at-t.asked < every {
		return call{}, false
	}
	t.asked = at
	return t.call, true
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
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.call
}
