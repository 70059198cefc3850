package rdma

import (
	"time"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// hasCredit reports whether a data message may be sent.
func (ln *lane) hasCredit() bool { return ln.out.next < ln.out.limit && !ln.out.repair.busy() }

// hasRoom reports whether the send queue has room for a request of that many entries.
// On the small lane some are reserved for control messages.
func (ln *lane) hasRoom(entries int) bool {
	if ln.id == 0 {
		entries += controlSlots
	}
	return ln.out.sq >= entries
}

// takeSlot returns a free slot to send from; there must be one.
func (ln *lane) takeSlot() int {
	o := &ln.out
	slot := o.free[len(o.free)-1]
	o.free = o.free[:len(o.free)-1]
	return slot
}

// post posts a request to the device. f is kept until it completes.
func (ln *lane) post(wr hca.SendWR, f flight) {
	wr.ID = idSend | uint64(ln.id)<<idLaneShift
	ln.out.wr = wr
	if err := ln.qp.PostSend(&ln.out.wr); err != nil {
		ln.l.lose(err)
		ln.landed(f)
		return
	}
	ln.out.sq -= f.entries
	if f.op != nil {
		f.op.reads++
		ln.l.toPeer.reading++
	}
	ln.out.flight.push(f)
}

// sendSlot sends a slot as it is.
func (ln *lane) sendSlot(slot, size, entries int) {
	b := ln.txSlot(slot)
	ln.post(hca.SendWR{Op: hca.Send, NSGE: 1, SGE: [2]hca.SGE{{Addr: address(b), Len: uint32(size), LKey: ln.rail.lkey}}},
		flight{slot: slot, entries: entries})
}

// sent handles the completion of the oldest request. If a request failed, its message is
// never done: the link is lost.
func (ln *lane) sent(ok bool) {
	f := ln.out.flight.pop()
	ln.out.sq += f.entries
	if f.op != nil {
		f.op.reads--
		f.op.failed = f.op.failed || !ok
		ln.l.toPeer.reading--
		ln.l.toPeer.settle(f.op)
	}
	ln.landed(f)
}

// landed frees the slot of a request that is over.
func (ln *lane) landed(f flight) {
	switch {
	case f.slot < 0:
	case f.slot >= ln.shape.window && f.slot < ln.out.slots-1:
		ln.l.control.free = append(ln.l.control.free, f.slot)
	case ln.l.rc:
		ln.out.free = append(ln.out.free, f.slot)
	default:
		ln.out.repair.landed(&ln.out, f.slot)
	}
}

// delivered reports whether the peer has all data messages.
func (ln *lane) delivered() bool {
	if ln.l.rc {
		return ln.out.flight.len() == 0
	}
	return ln.out.unacked() == 0
}

// heed acts on what the peer reports about the lane: what has arrived there, and the
// limit it grants.
func (ln *lane) heed(ack, limit uint64, now time.Time) {
	if limit > ln.out.limit {
		ln.out.limit = limit
		ln.out.repair.starved = false
	}
	if !ln.l.rc {
		ln.out.repair.acknowledged(&ln.out, ack, now)
	}
}
