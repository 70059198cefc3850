package rdma

import (
	"time"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// postRecv posts a receive into a slot.
func (ln *lane) postRecv(slot int) {
	b := ln.rxSlot(slot)
	err := ln.qp.PostRecv(uint64(ln.id)<<idLaneShift|uint64(slot), hca.SGE{Addr: address(b), Len: uint32(len(b)), LKey: ln.rail.lkey})
	if err != nil {
		ln.l.lose(err)
		return
	}
	ln.in.posted++
}

// giveBack frees the slot of a data message, so that the sender may be granted another.
func (ln *lane) giveBack(slot int) {
	ln.postRecv(slot)
	ln.in.freed++
}

// grant returns the limit to send to the peer.
func (ln *lane) grant() uint64 { return ln.in.freed + uint64(ln.shape.window) }

// received acts on the completion of a receive.
func (ln *lane) received(wc *hca.WC, now time.Time) {
	ln.in.posted--
	if wc.Status != hca.Success {
		return
	}
	slot := int(uint32(wc.ID))
	if wc.Op == hca.RecvImm {
		ln.in.expect++
		ln.giveBack(slot)
		ln.l.fromPeer.written(ln, wc.Imm)
		return
	}
	if !ln.arrived(slot, int(wc.Len), now) {
		ln.postRecv(slot)
	}
}

// arrived reads the message in a receive slot. It reports whether the slot is still in
// use.
func (ln *lane) arrived(slot, n int, now time.Time) (kept bool) {
	l, in := ln.l, &ln.in
	var h header
	b := ln.rxSlot(slot)
	if n >= headerSize {
		h.get(b)
	}
	sound := n >= headerSize && int(h.n) <= n-headerSize
	if sound && !l.rc {
		sound = intact(b[:headerSize+int(h.n)])
	}
	switch {
	case !sound && l.rc:
		l.lose(errProtocol)
		return false
	case !sound:
		l.stats.damaged.Add(1)
		ln.missed()
		return false
	}
	l.heard = now
	switch {
	case h.kind == kindControl && h.n == controlSize && ln.id == 0:
		l.control.read(b[headerSize:], now)
		return false
	case h.kind == kindProbe:
		in.probed, in.ackNow = h.seq, true
		return false
	case h.kind != kindData:
		l.lose(errProtocol)
		return false
	}
	ln.heed(h.ack, h.limit, now)
	switch {
	case h.seq == in.expect:
	case l.rc:
		l.lose(errProtocol)
		return false
	case h.seq < in.expect:
		in.ackNow = true // a repeat: the acknowledgement was lost
		return false
	default:
		ln.missed()
		return false
	}
	in.expect++
	if in.gap {
		in.gap, in.ackNow = false, true // the sender has held back the rest
	}
	in.ready.push(piece{slot, h.msg, h.len, h.off, int(h.n), h.tag})
	l.fromPeer.notify()
	return true
}

// missed records that the next message was lost.
func (ln *lane) missed() {
	if !ln.in.gap {
		ln.in.gap, ln.in.ackNow = true, true
	}
}

// due reports whether the peer needs a control message about the lane: a quarter of its
// window has become free or has arrived, or it waits for an acknowledgement.
func (ln *lane) due() bool {
	in, quarter := &ln.in, uint64(max(1, ln.shape.window/4))
	return in.ackNow || in.freed-in.saidFree >= quarter || !ln.l.rc && in.expect-in.saidAck >= quarter
}

// told records that the state of the lane is being sent to the peer.
func (ln *lane) told() {
	ln.in.saidAck, ln.in.saidFree, ln.in.ackNow = ln.in.expect, ln.in.freed, false
}
