package collective

import (
	"slices"
	"sync"

	"thundercollective/fabric"
)

// postBytes is the longest message that a lane posts itself. Beyond it, moving
// the bytes costs more than waking a goroutine, and the lane has messages to
// receive meanwhile.
const postBytes = 64 << 10

// An outbox is the sending side of the link to one peer. The plan lists what the
// peer is sent; the lane announces how much of that is ready, and messages leave in
// that order: from the lane itself while nothing is ahead of them and they are
// small, or the lane has nothing else to do, or the link moves them on by itself
// (fabric.Backlog), else from the outbox's goroutine.
type outbox struct {
	x    *Executor
	peer int

	mu     sync.Mutex
	work   sync.Cond // signalled to the goroutine
	gone   sync.Cond // signalled to those who wait for a message to leave
	link   fabric.Link
	poster fabric.Poster // link, if it is one
	// link, if it is one: then posted messages count as sent, and those not yet
	// taken are waited for where it matters.
	backlog fabric.Backlog

	ready  int  // messages of this run that may leave
	sent   int  // messages of this run whose buffers are free again
	posted bool // message number sent is with the poster, and wants flushing
	busy   bool // the goroutine is inside a call
	lane   int  // that sends on this link in this run

	running, stopping bool
}

func newOutbox(x *Executor, peer int) *outbox {
	b := &outbox{x: x, peer: peer}
	b.work.L, b.gone.L = &b.mu, &b.mu
	return b
}

// begin prepares for a run.
func (b *outbox) begin() {
	b.mu.Lock()
	b.ready, b.sent = 0, 0
	b.mu.Unlock()
}

// post lets the next message leave. tail says that the caller may block: it has
// nothing left to do but sends to this peer.
func (b *outbox) post(lane int, buf []byte, tail bool) error {
	b.mu.Lock()
	b.lane = lane
	if b.sent == b.ready && b.link == nil && tail {
		b.mu.Unlock()
		if _, err := b.open(); err != nil {
			return err
		}
		b.mu.Lock()
	}
	if b.sent == b.ready && b.link != nil {
		switch {
		case b.backlog != nil:
			_, err := b.backlog.Post(&b.x.tag, buf)
			b.ready++
			b.sent++
			b.mu.Unlock()
			return err
		case b.poster != nil && len(buf) <= postBytes:
			done, err := b.poster.Post(&b.x.tag, buf)
			if err != nil || done {
				b.ready++
				b.sent++
				b.mu.Unlock()
				return err
			}
			b.posted = true
		case tail:
			// The goroutine has nothing to do, so the sending side is ours.
			link := b.link
			b.mu.Unlock()
			err := link.Send(b.x.ctx, &b.x.tag, buf)
			b.mu.Lock()
			b.ready++
			b.sent++
			b.mu.Unlock()
			return err
		}
	}
	b.ready++
	if !b.running {
		b.running = true
		b.x.workers.Add(1)
		go b.loop()
	}
	b.work.Signal()
	b.mu.Unlock()
	return nil
}

// wait waits until the first n messages of the run have left, or the run failed.
func (b *outbox) wait(n int) error {
	b.mu.Lock()
	for b.sent < n && !b.x.failed.Load() {
		b.gone.Wait()
	}
	backlog, left := b.backlog, b.sent-n
	b.mu.Unlock()
	if backlog == nil || left < 0 {
		return nil
	}
	return backlog.Await(b.x.ctx, left)
}

// end waits until the outbox has let go of the buffers of the run.
func (b *outbox) end() {
	b.mu.Lock()
	for b.busy || b.posted || b.sent < b.ready && !b.x.failed.Load() {
		b.gone.Wait()
	}
	backlog := b.backlog
	b.mu.Unlock()
	if backlog == nil {
		return
	}
	if err := backlog.Await(b.x.ctx, 0); err != nil && !b.x.failed.Load() {
		b.x.fail(b.x.stepError(b.lane, b.find(b.lane, b.sent-1), err))
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
	defer b.x.workers.Done()
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		// A message that was posted is borrowed until it is flushed, come what may.
		for !b.stopping && !b.posted && (b.sent == b.ready || b.x.failed.Load()) {
			b.work.Wait()
		}
		if b.stopping {
			return
		}
		n, lane, posted := b.sent, b.lane, b.posted
		b.busy = true
		b.mu.Unlock()
		err := b.transmit(n, posted)
		if err != nil {
			b.x.fail(b.x.stepError(lane, b.find(lane, n), err))
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
		return b.poster.Flush(b.x.ctx)
	}
	link, err := b.open()
	if err != nil {
		return err
	}
	return link.Send(b.x.ctx, &b.x.tag, b.x.bytes(b.x.plan.sends[b.peer][n]))
}

// find returns the action of a lane that sends message n.
func (b *outbox) find(lane, n int) int {
	return slices.IndexFunc(b.x.plan.lanes[lane].actions, func(a planAction) bool {
		return a.Step == SendStep && a.Peer == b.peer && a.number == n
	})
}

// open returns the link, which it opens first if need be.
func (b *outbox) open() (fabric.Link, error) {
	b.mu.Lock()
	link := b.link
	b.mu.Unlock()
	if link != nil {
		return link, nil
	}
	link, err := b.x.open(b.peer)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	if b.link == nil { // the other direction may have asked as well
		b.link = link
		b.poster, _ = link.(fabric.Poster)
		b.backlog, _ = link.(fabric.Backlog)
	}
	link = b.link
	b.mu.Unlock()
	if b.x.failed.Load() {
		// The run may have failed before the link was there to be closed.
		return nil, b.x.err
	}
	return link, nil
}

func (b *outbox) closeLink() {
	b.mu.Lock()
	link := b.link
	b.mu.Unlock()
	if link != nil {
		link.Close()
	}
}

// stop ends the goroutine.
func (b *outbox) stop() {
	b.mu.Lock()
	b.stopping = true
	b.mu.Unlock()
	b.wake()
}
