package rdma

import (
	"context"
	"runtime"

	"thundercollective/fabric"
)

// sender is the sending side of a link. It is guarded by Link.mu.
type sender struct {
	side
	msg     uint64        // number of the next message
	queue   ring[*sendOp] // not completely posted yet
	open    ring[*sendOp] // in order, from the first whose buffer is still in use
	reading int           // requests under way that read callers' buffers
	pumping bool          // pump is running; it may release mu
	spare   []*sendOp

	// How the peer wants a message.
	hasAdvert bool
	advert    advert
	inSlots   bool // it wanted the last one in slots
	announced announcement
}

// A sendOp is a message whose buffer is still in use.
type sendOp struct {
	tag    fabric.Tag
	b      []byte
	reg    *region // that contains b; nil if none
	msg    uint64
	mode   mode
	off    int  // bytes posted
	frag   int  // pieces posted
	asked  bool // it was announced
	handed bool // all of it was posted
	failed bool // one of its requests failed
	reads  int  // requests under way that read b
	done   bool // b may be reused
}

// A mode is how a message is sent.
type mode byte

const (
	undecided mode = iota
	inSmall        // in slots of the small lane
	inBulk         // in slots of the bulk lanes
	direct         // written to the receiver's memory
)

// post begins to send b; done reports whether b may be reused.
func (t *sender) post(tag *fabric.Tag, b []byte) (done bool, err error) {
	l := t.l
	l.mu.Lock()
	defer l.mu.Unlock()
	l.enter()
	defer l.leave()
	if err := t.fault(); err != nil {
		return false, t.quit(err)
	}
	t.newOp(tag, b)
	t.pump()
	return t.tidy() == 0, nil
}

// await waits until at most left of the posted buffers are still in use.
func (t *sender) await(ctx context.Context, left int) error {
	l := t.l
	l.mu.Lock()
	defer l.mu.Unlock()
	t.begin(ctx)
	defer t.end()
	for t.tidy() > left || t.broken != nil {
		if err := t.fault(); err != nil {
			return t.quit(err)
		}
		l.engine.wait(&t.side)
		t.pump()
	}
	return nil
}

// fault returns why nothing more can be sent; nil if more can.
func (t *sender) fault() error {
	switch {
	case t.l.closed:
		return fabric.ErrClosed
	case t.broken != nil:
		return t.broken
	case t.cause() != nil:
		return t.cause()
	}
	return t.l.err
}

// quit ends the sending side. After it nothing reads the callers' buffers.
func (t *sender) quit(err error) error {
	if t.broken == nil {
		t.broken = err
	}
	for t.pumping {
		t.l.mu.Unlock()
		runtime.Gosched()
		t.l.mu.Lock()
	}
	if t.reading > 0 {
		t.l.abandon()
	}
	for t.queue.len() > 0 {
		t.queue.pop()
	}
	for t.open.len() > 0 {
		t.open.pop()
	}
	return err
}

// newOp queues a message.
func (t *sender) newOp(tag *fabric.Tag, b []byte) {
	var op *sendOp
	if n := len(t.spare); n > 0 {
		op, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		op = new(sendOp)
	}
	*op = sendOp{tag: *tag, b: b, msg: t.msg}
	t.msg++
	t.queue.push(op)
	t.open.push(op)
}

// tidy removes the messages at the front whose buffers may be reused, and returns the
// number of the others.
func (t *sender) tidy() int {
	for t.open.len() > 0 && (*t.open.front()).done {
		t.spare = append(t.spare, t.open.pop())
	}
	return t.open.len()
}

// settle marks a message as done if its buffer may be reused.
func (t *sender) settle(op *sendOp) {
	if !op.handed || op.reads > 0 || op.failed {
		return
	}
	op.done = true
	t.l.traffic.Sent(len(op.b))
	op.b, op.reg = nil, nil
	t.notify()
}
