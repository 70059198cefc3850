package rdma

import (
	"thundercollective/fabric"
	"thundercollective/internal/provider/rdma/internal/hca"
)

// On reliable devices a long message between registered memories is written directly
// from one to the other. The receiver advertises its buffer as soon as it waits for the
// message; the sender writes over all rails, and the last write on each carries the
// message's number, which completes a receive at the peer. A sender that is ready first
// announces the message and waits for the advert, or for the answer that the receiver
// wants it in slots, because its memory is not registered or it uses RecvFunc. That
// answer applies until the next advert.
//
// An advert contains the number of the message and the expected tag and length. One that
// does not match, or arrives when the message is already under way, is ignored; the
// receiver detects a mismatch from the message itself.

// decide chooses how to send a message. It reports false if it has to wait for the peer.
func (t *sender) decide(op *sendOp) bool {
	if len(op.b) <= t.l.plan.eager {
		op.mode = inSmall
		return true
	}
	op.mode = inBulk
	if !t.l.rc {
		return true
	}
	op.reg = t.l.f.memory.find(op.b)
	switch {
	case t.hasAdvert && t.advert.msg == op.msg:
		if t.advert.tag == op.tag && t.advert.len == uint64(len(op.b)) {
			op.mode = direct
		}
	case op.reg != nil && !t.inSlots:
		op.mode = undecided
		if !op.asked {
			op.asked = true
			t.announced = announcement{op.msg, uint64(len(op.b)), op.tag}
			t.l.control.next.announce = &t.announced
			t.l.control.emit()
		}
		return false
	}
	return true
}

// writePiece writes the next piece of a message to the peer's memory. It reports false
// if that has to wait.
func (t *sender) writePiece(op *sendOp, ln *lane) bool {
	step := ln.shape.payload()
	n := min(step, len(op.b)-op.off)
	last := op.frag+len(t.l.rails) >= pieces(len(op.b), step)
	if !ln.hasRoom(1) || last && !ln.hasCredit() {
		return false
	}
	a := &t.advert
	wr := hca.SendWR{Op: hca.Write, NSGE: 1, RemoteAddr: a.addr + uint64(op.off), RKey: a.keys[ln.id-1]}
	if last {
		wr.Op, wr.Imm = hca.WriteImm, uint32(op.msg)
	}
	f := flight{slot: -1, entries: 1}
	src := op.b[op.off : op.off+n]
	if key, ok := op.source(ln, src); ok {
		wr.SGE[0] = hca.SGE{Addr: address(src), Len: uint32(n), LKey: key}
		f.op = op
	} else {
		if len(ln.out.free) == 0 {
			return false
		}
		f.slot = ln.takeSlot()
		b := ln.txSlot(f.slot)
		t.stage(b, 0, src)
		wr.SGE[0] = hca.SGE{Addr: address(b), Len: uint32(n), LKey: ln.rail.lkey}
	}
	if last {
		ln.out.next++
	}
	op.off += n
	op.frag++
	ln.post(wr, f)
	return true
}

// pieces returns the number of pieces of at most step bytes in n bytes.
func pieces(n, step int) int { return (n + step - 1) / step }

// advertise lets the peer write the next message to b. It reports false if b is not
// registered.
func (r *receiver) advertise(tag *fabric.Tag, b []byte) bool {
	reg := r.l.f.memory.find(b)
	if reg == nil {
		return false
	}
	r.advert = advert{msg: r.msg, len: uint64(len(b)), addr: address(b), tag: *tag}
	for i, rl := range r.l.rails {
		mr := reg.on(rl.dev, b)
		if mr == nil {
			return false
		}
		r.advert.keys[i] = mr.RKey()
	}
	r.missing = 0
	for i := range min(len(r.l.rails), pieces(len(b), r.l.plan.bulk.payload())) {
		r.missing |= 1 << ((r.msg + uint64(i)) % uint64(len(r.l.rails)))
	}
	r.advertised = true
	r.l.control.next.advert = &r.advert
	r.l.control.emit()
	return true
}

// written records the last write of a message on a lane.
func (r *receiver) written(ln *lane, imm uint32) {
	bit := uint32(1) << (ln.id - 1)
	if !r.advertised || imm != uint32(r.advert.msg) || r.missing&bit == 0 {
		r.l.lose(errProtocol)
		return
	}
	r.missing &^= bit
	r.notify()
}
