package rdma

import (
	"context"
	"runtime"

	"thundercollective/fabric"
)

// sender is the sending side of a link, guarded by Link.mu.
type sender struct {
	side
	msg     uint64        // number of the next message
	queue   ring[*sendOp] // not handed over to the device yet
	open    ring[*sendOp] // in order, from the first whose buffer is needed
	reading int           // requests with the device that read such buffers
	pumping bool          // somebody works on the queue; it may let go of mu
	spare   []*sendOp

	// What the peer said of how it wants a message.
	hasAdvert bool
	advert    advert
	inSlots   bool // it took the last one in slots
	announced announcement
}

// A sendOp is a message on its way out of its buffer.
type sendOp struct {
	tag    fabric.Tag
	b      []byte
	reg    *region // that b lies in; nil if none
	msg    uint64
	mode   mode
	off    int // bytes handed over
	frag   int // and requests
	asked  bool
	handed bool // all of it
	failed bool // one of its requests
	reads  int  // requests with the device that read b
	done   bool // b is the caller's again
}

// A mode is the way a message is sent.
type mode byte

const (
	undecided mode = iota
	inSmall        // in slots of the small lane
	inBulk         // in slots of the bulk lanes
	direct         // written to the receiver's memory
)

// send sends b and returns when it is the caller's again.
func (t *sender) send(ctx context.Context, tag *fabric.Tag, b []byte) error {
	l := t.l
	l.mu.Lock()
	defer l.mu.Unlock()
	t.begin(ctx)
	defer t.end()
	if err := t.fault(); err != nil {
		return t.quit(err)
	}
	op := t.newOp(tag, b)
	t.pump()
	for !op.done {
		if err := t.fault(); err != nil {
			return t.quit(err)
		}
		l.engine.wait(&t.side)
		t.pump()
	}
	t.tidy()
	return nil
}

// post begins to send b; done reports whether it is the caller's again.
func (t *sender) post(tag *fabric.Tag, b []byte) (done bool, err error) {
	l := t.l
	l.mu.Lock()
	defer l.mu.Unlock()
	l.enter()
	defer l.leave()
	if err := t.fault(); err != nil {
		return false, t.quit(err)
	}
	op := t.newOp(tag, b)
	t.pump()
	done = op.done
	t.tidy()
	return done, nil
}

// await waits until at most left of the posted buffers are not the caller's again.
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

// quit ends the sending side. Nothing reads the caller's buffers after it.
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

func (t *sender) newOp(tag *fabric.Tag, b []byte) *sendOp {
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
	return op
}

// tidy puts away the messages at the front whose buffers are the caller's again,
// and returns the number of the others.
func (t *sender) tidy() int {
	for t.open.len() > 0 && (*t.open.front()).done {
		t.spare = append(t.spare, t.open.pop())
	}
	return t.open.len()
}

// settle notes that a message needs its buffer no more, if that is so.
func (t *sender) settle(op *sendOp) {
	if !op.handed || op.reads > 0 || op.failed {
		return
	}
	op.done = true
	t.l.traffic.Sent(len(op.b))
	op.b, op.reg = nil, nil
	t.notify()
}
