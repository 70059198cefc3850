package rdma

import (
	"context"
	"runtime"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/provider/rdma/internal/hca"
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

// Send implements fabric.Link.
func (l *Link) Send(ctx context.Context, tag *fabric.Tag, b []byte) error {
	t := &l.toPeer
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begin(&t.side, ctx)
	defer l.end(&t.side)
	if err := l.sendFault(); err != nil {
		return l.quitSend(err)
	}
	op := l.newOp(tag, b)
	l.pump()
	for !op.done {
		if err := l.sendFault(); err != nil {
			return l.quitSend(err)
		}
		l.wait(&t.side)
		l.pump()
	}
	l.tidy()
	return nil
}

// Post implements fabric.Poster.
func (l *Link) Post(tag *fabric.Tag, b []byte) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.enter()
	defer l.leave()
	if err := l.sendFault(); err != nil {
		return false, l.quitSend(err)
	}
	op := l.newOp(tag, b)
	l.pump()
	done := op.done
	l.tidy()
	return done, nil
}

// Flush implements fabric.Poster.
func (l *Link) Flush(ctx context.Context) error { return l.Await(ctx, 0) }

// Mover implements fabric.Backlog.
func (l *Link) Mover() any { return l.f }

// Await implements fabric.Backlog. What was posted moves on by itself; nobody has
// to be in a call for it.
func (l *Link) Await(ctx context.Context, left int) error {
	t := &l.toPeer
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begin(&t.side, ctx)
	defer l.end(&t.side)
	for l.tidy() > left || t.broken != nil {
		if err := l.sendFault(); err != nil {
			return l.quitSend(err)
		}
		l.wait(&t.side)
		l.pump()
	}
	return nil
}

// sendFault says why nothing more can be sent.
func (l *Link) sendFault() error {
	t := &l.toPeer
	switch {
	case l.closed:
		return fabric.ErrClosed
	case t.broken != nil:
		return t.broken
	case t.cause() != nil:
		return t.cause()
	}
	return l.err
}

// quitSend ends the sending side. Nothing reads the caller's buffers after it.
func (l *Link) quitSend(err error) error {
	t := &l.toPeer
	if t.broken == nil {
		t.broken = err
	}
	for t.pumping {
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
	}
	if t.reading > 0 {
		l.abandon()
	}
	for t.queue.len() > 0 {
		t.queue.pop()
	}
	for t.open.len() > 0 {
		t.open.pop()
	}
	return err
}

func (l *Link) newOp(tag *fabric.Tag, b []byte) *sendOp {
	t := &l.toPeer
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
func (l *Link) tidy() int {
	t := &l.toPeer
	for t.open.len() > 0 && (*t.open.front()).done {
		t.spare = append(t.spare, t.open.pop())
	}
	return t.open.len()
}

// settle notes that a message needs its buffer no more, if that is so.
func (l *Link) settle(op *sendOp) {
	if !op.handed || op.reads > 0 || op.failed {
		return
	}
	t := &l.toPeer
	op.done = true
	l.sentMsgs.Add(1)
	l.sentBytes.Add(uint64(len(op.b)))
	op.b, op.reg = nil, nil
	l.notify(&t.side)
}

// pump sends what the peer has granted and the queues have room for.
func (l *Link) pump() {
	t := &l.toPeer
	if t.pumping {
		return // whoever does will see what is new
	}
	t.pumping = true
	for t.queue.len() > 0 && l.sending() {
		op := *t.queue.front()
		if !l.hand(op) {
			break
		}
		t.queue.pop()
		op.handed = true
		l.settle(op)
	}
	t.pumping = false
}

func (l *Link) sending() bool { return l.err == nil && l.toPeer.broken == nil && !l.closed }

// hand sends pieces of a message until it is all handed over, which it reports.
func (l *Link) hand(op *sendOp) bool {
	if op.mode == undecided && !l.decide(op) {
		return false
	}
	for op.frag == 0 || op.off < len(op.b) {
		var ok bool
		switch op.mode {
		case inSmall:
			ok = l.sendPiece(op, l.lanes[0])
		case inBulk:
			ok = l.sendPiece(op, l.bulkLane(op))
		case direct:
			ok = l.writePiece(op, l.bulkLane(op))
		}
		if !ok || !l.sending() {
			return false
		}
	}
	return true
}

// bulkLane is the lane of the next piece: they go round the rails, starting with
// another one for each message.
func (l *Link) bulkLane(op *sendOp) *lane {
	rails := uint64(len(l.rails))
	return l.lanes[1+(op.msg+uint64(op.frag))%rails]
}

// sendPiece sends the next piece of a message in a slot of a lane, if it can.
func (l *Link) sendPiece(op *sendOp, ln *lane) bool {
	n := min(ln.shape.payload(), len(op.b)-op.off)
	size := l.plan.sendSize(ln.shape, n)
	entries := l.plan.frames(size)
	if !ln.hasCredit() {
		ln.repair.starved = ln.next >= ln.limit
		return false
	}
	if len(ln.free) == 0 || !ln.hasRoom(entries) {
		return false
	}
	slot := ln.takeSlot()
	b := ln.txSlot(slot)
	h := header{
		kind: kindData, seq: ln.next, ack: ln.expect, limit: ln.grant(),
		msg: op.msg, len: uint64(len(op.b)), off: uint64(op.off), n: uint32(n), tag: op.tag,
	}
	h.put(b)
	l.told(ln)
	wr := hca.SendWR{Op: hca.Send, NSGE: 1, SGE: [2]hca.SGE{{Addr: address(b), Len: uint32(size), LKey: ln.rail.lkey}}}
	f := flight{slot: slot, entries: entries}
	src := op.b[op.off : op.off+n]
	if key, ok := l.source(op, ln, src); ok && op.mode == inBulk && l.plan.sge > 1 {
		wr.NSGE, wr.SGE[0].Len = 2, headerSize
		wr.SGE[1] = hca.SGE{Addr: address(src), Len: uint32(n), LKey: key}
		f.op = op
	} else {
		l.stage(b, headerSize, src)
		if !l.rc {
			ln.repair.keep(ln.next, slot, size, time.Now())
		}
	}
	ln.next++
	op.off += n
	op.frag++
	l.post(ln, wr, f)
	return true
}

// source is the key of registered memory that a rail can send from.
func (l *Link) source(op *sendOp, ln *lane, src []byte) (uint32, bool) {
	if op.reg == nil {
		return 0, false
	}
	mr := op.reg.on(ln.rail.dev, src)
	if mr == nil {
		return 0, false
	}
	return mr.LKey(), true
}

// stageUnlocked is the size from which a copy lets the other side work.
const stageUnlocked = 16 << 10

// stage copies a piece of a caller's buffer into a slot, behind the header if
// there is one, and completes that. Only pump calls it, so nothing else touches
// the slot, the op or the queue meanwhile.
func (l *Link) stage(slot []byte, at int, src []byte) {
	if len(src) >= stageUnlocked {
		l.mu.Unlock()
		defer l.mu.Lock()
	}
	l.copied.Add(uint64(copy(slot[at:], src)))
	if !l.rc {
		seal(slot[:at+len(src)])
	}
}
