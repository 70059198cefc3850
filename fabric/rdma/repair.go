package rdma

import (
	"errors"
	"time"

	"thundercollective/fabric/rdma/internal/hca"
)

// errSilent is the cause when an unreliable path stays silent.
var errSilent = errors.New("no acknowledgement; every repeat was lost or the peer is stuck")

// maxBackoff bounds how far the time between repeats grows.
const maxBackoff = 16

// repair is the sending side of an unreliable lane: it keeps what was sent until
// the peer has acknowledged it and sends it again when it has to.
//
// When a message is lost, damaged or not acknowledged in time, the oldest one that
// is not acknowledged goes out again, alone. As a queue pair keeps its order, its
// acknowledgement proves that everything before it has arrived or never will, and
// that the peer has posted the receives of what it threw away; so the rest may
// follow, and no repeat meets an empty queue either. Meanwhile nothing new is sent
// on the lane.
type repair struct {
	acked  uint64 // the peer has all data messages below
	slotOf []int  // by number % window
	uses   []txUse
	probe  bool   // the oldest message was repeated and not acknowledged yet
	resend uint64 // then those from here to resendTo have to be
	to     uint64

	since   time.Time // of the last acknowledgement, or repeat
	alive   time.Time // of the last acknowledgement
	backoff int       // times Config.Retry until the next repeat
	starved bool      // waits for a grant
}

// txUse is the state of a tx slot.
type txUse struct {
	size    int  // bytes to send
	posted  int  // requests with the device
	pending bool // not acknowledged
}

func newRepair(window int, now time.Time) repair {
	return repair{slotOf: make([]int, window), uses: make([]txUse, window), since: now, alive: now, backoff: 1}
}

// busy reports whether repeats are under way.
func (r *repair) busy() bool { return r.probe || r.resend < r.to }

// unacked is the number of messages that the peer has not acknowledged.
func (r *repair) unacked(ln *lane) int { return int(ln.next - r.acked) }

// keep remembers a message that is about to be posted for the first time.
func (r *repair) keep(seq uint64, slot, size int, now time.Time) {
	r.slotOf[seq%uint64(len(r.slotOf))] = slot
	r.uses[slot] = txUse{size: size, posted: 1, pending: true}
	if seq == r.acked {
		r.since, r.alive = now, now // the lane was idle
	}
}

// landed notes that the device is done with a slot.
func (r *repair) landed(ln *lane, slot int) {
	u := &r.uses[slot]
	u.posted--
	r.reuse(ln, slot)
}

// reuse frees a slot that neither the device nor the peer needs any more.
func (r *repair) reuse(ln *lane, slot int) {
	if u := &r.uses[slot]; !u.pending && u.posted == 0 {
		ln.free = append(ln.free, slot)
	}
}

// acknowledged notes that the peer has everything below ack.
func (r *repair) acknowledged(ln *lane, ack uint64, now time.Time) {
	if ack <= r.acked || ack > ln.next {
		return
	}
	for ; r.acked < ack; r.acked++ {
		slot := r.slotOf[r.acked%uint64(len(r.slotOf))]
		r.uses[slot].pending = false
		r.reuse(ln, slot)
	}
	r.since, r.alive, r.backoff = now, now, 1
	if r.probe {
		r.probe = false
		r.resend, r.to = r.acked, ln.next
	}
	r.resend = max(r.resend, r.acked)
}

// repeat begins a repair: the oldest message is sent again.
func (l *Link) repeat(ln *lane, now time.Time) {
	r := &ln.repair
	r.since = now
	r.resend, r.to = 0, 0
	r.probe = true
	l.repeats.Add(1)
	l.postAgain(ln, r.acked)
}

// postAgain sends a kept message again, if the send queue has room.
func (l *Link) postAgain(ln *lane, seq uint64) bool {
	slot := ln.repair.slotOf[seq%uint64(len(ln.repair.slotOf))]
	u := &ln.repair.uses[slot]
	entries := l.plan.frames(u.size)
	if !ln.hasRoom(entries) {
		return false
	}
	u.posted++
	b := ln.txSlot(slot)
	l.post(ln, hca.SendWR{Op: hca.Send, NSGE: 1, SGE: [2]hca.SGE{{Addr: address(b), Len: uint32(u.size), LKey: ln.rail.lkey}}},
		flight{slot: slot, entries: entries})
	return true
}

// mend goes on with the repeats that are due.
func (l *Link) mend(ln *lane) {
	r := &ln.repair
	for r.resend < r.to && l.postAgain(ln, r.resend) {
		l.repeats.Add(1)
		r.resend++
	}
}

// overdue does what time demands of a lane: repeats what is not acknowledged,
// asks for a grant that may have been lost, and gives up in the end.
func (l *Link) overdue(ln *lane, now time.Time) {
	r := &ln.repair
	waiting := r.unacked(ln) > 0
	if !waiting && !r.starved {
		r.alive = now
		return
	}
	silent := now.Sub(r.alive)
	if !waiting {
		silent = now.Sub(l.heard)
	}
	if silent > l.f.cfg.GiveUp {
		l.lose(errSilent)
		return
	}
	if now.Sub(r.since) < time.Duration(r.backoff)*l.f.cfg.Retry {
		return
	}
	r.backoff = min(2*r.backoff, maxBackoff)
	if waiting {
		l.repeat(ln, now)
		return
	}
	r.since = now
	l.out.request = true
}
