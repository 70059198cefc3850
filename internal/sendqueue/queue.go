// Package sendqueue sends messages in the background, for links that can only send by a
// call that blocks: those of several TCP streams and of several rails.
//
// A link posts what it can without waiting, and leaves the rest to its Queue. The queue
// has a goroutine that is started with the first such message and parked while there is
// none. A caller of Await does the work itself if the goroutine has not begun it, so a
// message that is sent and waited for at once crosses no goroutine.
package sendqueue

import (
	"context"
	"sync"

	"thundercollective/fabric"
	"thundercollective/internal/ctxwatch"
)

// PostMost is the length of the longest message that Post of such a link should send
// itself. Moving the bytes of a longer one costs more than waking a goroutine, and the
// caller has messages to receive meanwhile.
const PostMost = 64 << 10

// A Message waits to be sent.
type Message struct {
	Tag fabric.Tag
	Buf []byte
	// Begun: Post has sent a part of it already.
	Begun bool
}

// A Queue is the part of a link's sending side that works in the background. The link's
// one sender calls Idle, Add and Await; Close may come from anywhere.
type Queue struct {
	send func(ctx context.Context, m *Message) error

	ctx    context.Context // of the sends; ends with that of Await
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	waiting context.Context // of the Await under way, nil if there is none
	watch   ctxwatch.Watch  // of the context of Await
	changed sync.Cond
	queue   []Message // from first on
	first   int
	current Message // being sent, if busy
	busy    bool
	err     error // why the queue sends no more

	started bool
	closed  bool
	worker  sync.WaitGroup
}

// New returns a queue that sends with send, which blocks until the buffer is free again.
// It is called by one goroutine at a time, with a context that ends when that of Await
// does. Its errors are final.
func New(send func(ctx context.Context, m *Message) error) *Queue {
	q := &Queue{send: send}
	q.changed.L = &q.mu
	q.ctx, q.cancel = context.WithCancelCause(context.Background())
	q.watch = ctxwatch.New(func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.look()
	})
	return q
}

// look ends what is being sent if the context of Await has ended.
func (q *Queue) look() {
	if q.waiting != nil && q.waiting.Err() != nil {
		q.cancel(context.Cause(q.waiting))
	}
}

func (q *Queue) remaining() int { return len(q.queue) - q.first }

// Idle reports whether the queue is empty, so that its link may send by itself. The
// error is why nothing can be sent any more.
func (q *Queue) Idle() (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.remaining() == 0, q.err
}

// Add appends a message. A message that was begun must find the queue idle.
func (q *Queue) Add(tag *fabric.Tag, b []byte, begun bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return q.err
	}
	if q.first > 0 && len(q.queue) == cap(q.queue) {
		n := copy(q.queue, q.queue[q.first:])
		clear(q.queue[n:])
		q.queue, q.first = q.queue[:n], 0
	}
	q.queue = append(q.queue, Message{*tag, b, begun})
	if !q.started {
		q.started = true
		q.worker.Go(q.run)
	}
	q.changed.Broadcast()
	return nil
}

// run is the goroutine.
func (q *Queue) run() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for !q.closed && (q.busy || q.remaining() == 0) {
			q.changed.Wait()
		}
		if q.closed {
			return
		}
		q.sendFirst()
	}
}

// sendFirst sends the first message. The caller holds mu, which is free meanwhile.
func (q *Queue) sendFirst() {
	q.current, q.busy = q.queue[q.first], true
	q.mu.Unlock()
	err := q.send(q.ctx, &q.current)
	q.mu.Lock()
	q.current, q.busy = Message{}, false
	switch {
	case err != nil:
		q.fail(err)
	case q.remaining() > 0: // unless the queue was closed meanwhile
		q.queue[q.first] = Message{}
		if q.first++; q.remaining() == 0 {
			q.queue, q.first = q.queue[:0], 0
		}
	}
	q.changed.Broadcast()
}

// fail gives all buffers back.
func (q *Queue) fail(err error) {
	if q.err == nil {
		q.err = err
	}
	clear(q.queue)
	q.queue, q.first = q.queue[:0], 0
}

// Await waits until at most left messages are in the queue.
func (q *Queue) Await(ctx context.Context, left int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.remaining() <= left && !q.gone() {
		return q.err
	}
	q.waiting = ctx
	q.watch.Set(ctx)
	q.look()
	for q.remaining() > left || q.gone() {
		switch {
		case q.busy:
			q.changed.Wait()
		case q.ctx.Err() != nil:
			q.fail(context.Cause(q.ctx))
		default:
			q.sendFirst()
		}
	}
	q.waiting = nil
	switch {
	case q.ctx.Err() != nil: // while the last message was leaving
		q.fail(context.Cause(q.ctx))
	case q.remaining() > 0:
		q.changed.Broadcast() // the rest is for the goroutine
	}
	return q.err
}

// gone reports whether the queue has failed while a message is still being sent.
func (q *Queue) gone() bool { return q.busy && (q.err != nil || q.ctx.Err() != nil) }

// Close ends the queue. What is being sent has to be ended by the link, before. When it
// and all calls have returned, nothing uses a buffer any more.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.fail(fabric.ErrClosed)
	q.changed.Broadcast()
	q.watch.Clear()
	q.mu.Unlock()
	q.worker.Wait()
}
