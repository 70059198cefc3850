package collective

import (
	"slices"
	"sync"
	"sync/atomic"

	"thundercollective/fabric"
)

// postBytes is the longest message that a lane posts itself. Beyond it, moving
// the bytes costs more than waking a goroutine, and the lane has messages to
// receive meanwhile.
const postBytes = 64 << 10

// An outbox is the sending side of the link to one peer. The plan lists what the
// peer is sent; the lane announces how much of that is ready, and messages leave in
// that order: from the lane itself while nothing is ahead of them and they are
// small, or the lane has nothing else to do, or the links of the run move them on by
// themselves (fabric.Backlog), else from the outbox's goroutine.
type outbox struct {
	r    *runner
	peer int

	path atomic.Pointer[path] // nil until the link is open

	mu   sync.Mutex
	work sync.Cond // signalled to the goroutine
	gone sync.Cond // signalled to those who wait for a message to leave

	ready  int  // messages of this run that may leave
	sent   int  // messages of this run whose buffers are free again
	posted bool // message number sent is with the poster, and wants flushing
	busy   bool // the goroutine is inside a call
	lane   int  // that sends on this link in this run
	// owed: the backlog has not taken all that was posted in this run. Then posted
	// messages count as sent, and those not taken are waited for where it matters.
	owed bool

	// running: there is a goroutine. While there is none, and all links of the run
	// are Backlogs, the sending lane has the outbox for itself and takes no lock.
	running  atomic.Bool
	stopping bool
}

// A path is an open link with its abilities.
type path struct {
	link    fabric.Link
	poster  fabric.Poster  // link, if it is one
	backlog fabric.Backlog // link, if it is one
	mover   any            // of the backlog
}

// own returns the path if the caller, who is the sending lane or starts or ends
// the run, has the outbox for itself; nil otherwise.
func (b *outbox) own() *path {
	if b.r.uniform.Load() && !b.running.Load() {
		return b.path.Load()
	}
	return nil
}

func newOutbox(r *runner, peer int) *outbox {
	b := &outbox{r: r, peer: peer}
	b.work.L, b.gone.L = &b.mu, &b.mu
	return b
}

// begin prepares for a run.
func (b *outbox) begin() {
	if b.own() == nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.work.Signal() // it may no longer be needed
	}
	b.ready, b.sent, b.owed = 0, 0, false
}

// post lets the next message leave. tail says that the caller may block: it has
// nothing left to do but sends to this peer.
func (b *outbox) post(lane int, buf []byte, tail bool) error {
	if p := b.own(); p != nil {
		b.lane = lane
		done, err := p.backlog.Post(&b.r.tag, buf)
		b.owed = b.owed || !done
		b.ready++
		b.sent++
		return err
	}
	b.mu.Lock()
	b.lane = lane
	p := b.path.Load()
	if b.sent == b.ready && p == nil && tail {
		b.mu.Unlock()
		if _, err := b.open(); err != nil {
			return err
		}
		return b.post(lane, buf, tail)
	}
	if b.sent == b.ready && p != nil {
		switch {
		case p.poster != nil && len(buf) <= postBytes:
			done, err := p.poster.Post(&b.r.tag, buf)
			if err != nil || done {
				b.ready++
				b.sent++
				b.mu.Unlock()
				return err
			}
			b.posted = true
		case tail:
			// The goroutine has nothing to do, so the sending side is ours.
			b.mu.Unlock()
			err := p.link.Send(b.r.ctx, &b.r.tag, buf)
			b.mu.Lock()
			b.ready++
			b.sent++
			b.mu.Unlock()
			return err
		}
	}
	b.ready++
	if !b.running.Swap(true) {
		b.r.workers.Add(1)
		go b.loop()
	}
	b.work.Signal()
	b.mu.Unlock()
	return nil
}

// wait waits until the first n messages of the run have left, or the run failed.
func (b *outbox) wait(n int) error {
	if b.own() == nil {
		b.mu.Lock()
		for b.sent < n && !b.r.failed.Load() {
			b.gone.Wait()
		}
		b.mu.Unlock()
	}
	if !b.owed || b.sent < n {
		return nil
	}
	return b.path.Load().backlog.Await(b.r.ctx, b.sent-n)
}

// end waits until the outbox has let go of the buffers of the run.
func (b *outbox) end() {
	if b.own() == nil {
		b.mu.Lock()
		for b.busy || b.posted || b.sent < b.ready && !b.r.failed.Load() {
			b.gone.Wait()
		}
		b.mu.Unlock()
	}
	if !b.owed {
		return
	}
	if err := b.path.Load().backlog.Await(b.r.ctx, 0); err != nil && !b.r.failed.Load() {
		b.r.fail(b.r.stepError(b.lane, b.find(b.lane, b.sent-1), err))
	}
}

// wake makes everyone look at the state of the run again.
func (b *outbox) wake() {
	b.mu.Lock()
	b.work.Broadcast()
	b.gone.Broadcast()
	b.mu.Unlock()
}

// loop is the outbox's goroutine.
func (b *outbox) loop() {
	defer b.r.workers.Done()
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		// A message that was posted is borrowed until it is flushed, come what may.
		for !b.stopping && !b.posted && (b.sent == b.ready || b.r.failed.Load()) {
			if b.r.uniform.Load() {
				b.running.Store(false) // it was only needed until the links were open
				return
			}
			b.work.Wait()
		}
		if b.stopping {
			b.running.Store(false)
			return
		}
		n, lane, posted := b.sent, b.lane, b.posted
		b.busy = true
		b.mu.Unlock()
		err := b.transmit(n, posted)
		if err != nil {
			b.r.fail(b.r.stepError(lane, b.find(lane, n), err))
		}
		b.mu.Lock()
		b.busy, b.posted = false, false
		if err == nil {
			b.sent++
		}
		b.gone.Broadcast()
	}
}

// transmit sends message n of the run, or sees its sending through.
func (b *outbox) transmit(n int, posted bool) error {
	if posted {
		return b.path.Load().poster.Flush(b.r.ctx)
	}
	link, err := b.open()
	if err != nil {
		return err
	}
	return link.Send(b.r.ctx, &b.r.tag, b.r.bytes(b.r.plan.sends[b.peer][n]))
}

// find returns the action of a lane that sends message n.
func (b *outbox) find(lane, n int) int {
	return slices.IndexFunc(b.r.plan.lanes[lane].actions, func(a planAction) bool {
		return a.Step == SendStep && a.Peer == b.peer && a.number == n
	})
}

// open returns the link, which it opens first if need be.
func (b *outbox) open() (fabric.Link, error) {
	if p := b.path.Load(); p != nil {
		return p.link, nil
	}
	link, err := b.r.open(b.peer)
	if err != nil {
		return nil, err
	}
	p := &path{link: link}
	p.poster, _ = link.(fabric.Poster)
	if log, ok := link.(fabric.Backlog); ok {
		p.backlog, p.mover = log, log.Mover()
	}
	b.path.CompareAndSwap(nil, p) // the other direction may have asked as well
	if b.r.failed.Load() {
		// The run may have failed before the link was there to be closed.
		return nil, b.r.err
	}
	return b.path.Load().link, nil
}

func (b *outbox) closeLink() {
	if p := b.path.Load(); p != nil {
		p.link.Close()
	}
}

// stop ends the goroutine.
func (b *outbox) stop() {
	b.mu.Lock()
	b.stopping = true
	b.mu.Unlock()
	b.wake()
}
