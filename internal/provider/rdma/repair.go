package rdma

import (
	"errors"
	"time"
)

// errSilent is the cause when an unreliable path stays silent.
var errSilent = errors.New("no acknowledgement; every repeat was lost or the peer is stuck")

// The time to the next probe grows by this factor, up to this many times
// Config.Retry: a peer that is only slow has receives for two.
const backoffBy, maxBackoff = 4, 64

// repair is the sending side of an unreliable lane: it keeps what was sent until
// the peer has acknowledged it, and sends it again when it has to. It is guarded by
// Link.mu, like its lane.
//
// When a message was lost or damaged, or is not acknowledged in time, a probe is
// sent on the lane, and nothing else until the peer has answered it. As a queue
// pair keeps its order, the answer tells exactly what has arrived of all that was
// sent before, and the peer has posted the receives of what it threw away; so what
// is missing can be sent again, and no repeat meets an empty queue.
type repair struct {
	acked  uint64 // the peer has all data messages below
	slotOf []int  // by number % window
	uses   []txUse

	probing bool
	probe   uint64 // number of the last one
	posted  int    // probes with the device
	next    uint64 // messages from here to end have to be sent again
	end     uint64

	since   time.Time // of the last acknowledgement, or probe
	alive   time.Time // of the last acknowledgement
	backoff int       // times Config.Retry until the next probe
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

// busy reports whether a repair is under way.
func (r *repair) busy() bool { return r.probing || r.next < r.end }

// unacked is the number of messages that the peer has not acknowledged.
func (o *laneOut) unacked() int { return int(o.next - o.repair.acked) }

// keep remembers a message that is about to be posted for the first time.
func (r *repair) keep(seq uint64, slot, size int, now time.Time) {
	r.slotOf[seq%uint64(len(r.slotOf))] = slot
	r.uses[slot] = txUse{size: size, posted: 1, pending: true}
	if seq == r.acked {
		r.since, r.alive = now, now // the lane was idle
	}
}

// landed notes that the device is done with a slot.
func (r *repair) landed(o *laneOut, slot int) {
	if slot == o.slots-1 {
		r.posted--
		return
	}
	r.uses[slot].posted--
	r.reuse(o, slot)
}

// reuse frees a slot that neither the device nor the peer needs any more.
func (r *repair) reuse(o *laneOut, slot int) {
	if u := &r.uses[slot]; !u.pending && u.posted == 0 {
		o.free = append(o.free, slot)
	}
}

// acknowledged notes that the peer has everything below ack.
func (r *repair) acknowledged(o *laneOut, ack uint64, now time.Time) {
	if ack <= r.acked || ack > o.next {
		return
	}
	for ; r.acked < ack; r.acked++ {
		slot := r.slotOf[r.acked%uint64(len(r.slotOf))]
		r.uses[slot].pending = false
		r.reuse(o, slot)
	}
	r.since, r.alive, r.backoff = now, now, 1
	r.next = max(r.next, r.acked)
	if r.acked == o.next {
		r.probing = false // nothing is missing, whatever the answer
	}
}

// answered notes the answer to a probe. What the peer said with it has been
// acknowledged.
func (r *repair) answered(o *laneOut, probe uint64) {
	if r.probing && probe == r.probe {
		r.probing = false
		r.next, r.end = r.acked, o.next
	}
}

// ask sends a probe, if the last one has left.
func (ln *lane) ask(now time.Time) {
	r := &ln.out.repair
	r.since = now
	size := ln.l.plan.sendSize(ln.shape, 0)
	entries := ln.l.plan.frames(size)
	if r.posted > 0 || !ln.hasRoom(entries) {
		return
	}
	r.probing, r.posted = true, 1
	r.probe++
	slot := ln.out.slots - 1
	b := ln.txSlot(slot)
	h := header{kind: kindProbe, seq: r.probe}
	h.put(b)
	seal(b[:headerSize])
	ln.sendSlot(slot, size, entries)
}

// mend sends again what has to be.
func (ln *lane) mend() {
	r := &ln.out.repair
	for ; r.next < r.end; r.next++ {
		slot := r.slotOf[r.next%uint64(len(r.slotOf))]
		u := &r.uses[slot]
		entries := ln.l.plan.frames(u.size)
		if !ln.hasRoom(entries) {
			return
		}
		u.posted++
		ln.l.stats.repeats.Add(1)
		ln.sendSlot(slot, u.size, entries)
	}
}

// overdue does what time demands of a lane: probes when acknowledgements are late,
// asks for a grant that may have been lost, and gives up in the end.
func (ln *lane) overdue(now time.Time) {
	r := &ln.out.repair
	waiting := ln.out.unacked() > 0
	if !waiting && !r.starved {
		return
	}
	silent := now.Sub(r.alive)
	if !waiting {
		silent = now.Sub(ln.l.heard)
	}
	if silent > ln.l.f.cfg.GiveUp {
		ln.l.sever(errSilent)
		return
	}
	if now.Sub(r.since) < time.Duration(r.backoff)*ln.l.f.cfg.Retry {
		return
	}
	r.backoff = min(backoffBy*r.backoff, maxBackoff)
	if waiting {
		ln.ask(now)
		return
	}
	r.since = now
	ln.l.control.next.request = true
}
