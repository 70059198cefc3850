package rdma

import (
	"time"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// pump sends as much as the peer has granted and the send queues have room for.
func (t *sender) pump() {
	if t.pumping {
		return // it will see what is new
	}
	t.pumping = true
	for t.queue.len() > 0 && t.sending() {
		op := *t.queue.front()
		if !t.hand(op) {
			break
		}
		t.queue.pop()
		op.handed = true
		t.settle(op)
	}
	t.pumping = false
}

// sending reports whether messages can still be sent.
func (t *sender) sending() bool { return t.l.err == nil && t.broken == nil && !t.l.closed }

// hand sends pieces of a message and reports whether all are posted.
func (t *sender) hand(op *sendOp) bool {
	if op.mode == undecided && !t.decide(op) {
		return false
	}
	for op.frag == 0 || op.off < len(op.b) {
		var ok bool
		switch op.mode {
		case inSmall:
			ok = t.sendPiece(op, t.l.lanes[0])
		case inBulk:
			ok = t.sendPiece(op, t.bulkLane(op))
		case direct:
			ok = t.writePiece(op, t.bulkLane(op))
		}
		if !ok || !t.sending() {
			return false
		}
	}
	return true
}

// bulkLane returns the lane of the next piece: pieces take the rails in turn, and each
// message starts with another rail.
func (t *sender) bulkLane(op *sendOp) *lane {
	rails := uint64(len(t.l.rails))
	return t.l.lanes[1+(op.msg+uint64(op.frag))%rails]
}

// sendPiece sends the next piece of a message in a slot of a lane. It reports false if
// that has to wait.
func (t *sender) sendPiece(op *sendOp, ln *lane) bool {
	n := min(ln.shape.payload(), len(op.b)-op.off)
	size := t.l.plan.sendSize(ln.shape, n)
	entries := t.l.plan.frames(size)
	if !ln.hasCredit() {
		ln.out.repair.starved = ln.out.next >= ln.out.limit
		return false
	}
	if len(ln.out.free) == 0 || !ln.hasRoom(entries) {
		return false
	}
	slot := ln.takeSlot()
	b := ln.txSlot(slot)
	h := header{
		kind: kindData, seq: ln.out.next, ack: ln.in.expect, limit: ln.grant(),
		msg: op.msg, len: uint64(len(op.b)), off: uint64(op.off), n: uint32(n), tag: op.tag,
	}
	h.put(b)
	ln.told()
	wr := hca.SendWR{Op: hca.Send, NSGE: 1, SGE: [2]hca.SGE{{Addr: address(b), Len: uint32(size), LKey: ln.rail.lkey}}}
	f := flight{slot: slot, entries: entries}
	src := op.b[op.off : op.off+n]
	if key, ok := op.source(ln, src); ok && op.mode == inBulk && t.l.plan.sge > 1 {
		wr.NSGE, wr.SGE[0].Len = 2, headerSize
		wr.SGE[1] = hca.SGE{Addr: address(src), Len: uint32(n), LKey: key}
		f.op = op
	} else {
		t.stage(b, headerSize, src)
		if !t.l.rc {
			ln.out.repair.keep(ln.out.next, slot, size, time.Now())
		}
	}
	ln.out.next++
	op.off += n
	op.frag++
	ln.post(wr, f)
	return true
}

// source returns the key of src for the device of a lane, if src is registered there.
func (op *sendOp) source(ln *lane, src []byte) (uint32, bool) {
	if op.reg == nil {
		return 0, false
	}
	mr := op.reg.on(ln.rail.dev, src)
	if mr == nil {
		return 0, false
	}
	return mr.LKey(), true
}

// stageUnlocked is the size from which a copy is made without holding Link.mu.
const stageUnlocked = 16 << 10

// stage copies a piece of a caller's buffer into a slot, after the header if there is
// one, and adds the checksum. Only pump calls it, so nothing else touches the slot, the
// op or the queue in the meantime.
func (t *sender) stage(slot []byte, at int, src []byte) {
	if len(src) >= stageUnlocked {
		t.l.mu.Unlock()
		defer t.l.mu.Lock()
	}
	t.l.stats.copied.Add(uint64(copy(slot[at:], src)))
	if !t.l.rc {
		seal(slot[:at+len(src)])
	}
}
