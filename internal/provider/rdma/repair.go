package rdma

import (
	"errors"
	"time"
)

// errSilent is the cause when the peer on an unreliable device is silent.
var errSilent = errors.New("no acknowledgement: all repeats were lost, or the peer hangs")

// The time to the next probe grows by backoffBy, up to maxBackoff times Config.Retry: a
// peer that is only slow has receives for two probes.
const backoffBy, maxBackoff = 4, 64

// repair keeps what was sent on an unreliable lane until the peer has acknowledged it,
// and sends it again when necessary. It is guarded by Link.mu, like its lane.
//
// When a message was lost or damaged, or is not acknowledged in time, a probe is sent on
// the lane, and nothing else until the peer has answered it. A queue pair delivers in
// order, so the answer tells exactly what has arrived of everything sent before the
// probe, and the peer has posted new receives for what it discarded. So the missing
// messages can be sent again, and every repeat finds a posted receive.
type repair struct {
	acked  uint64 // the peer has all data messages below this
	slotOf []int  // by number % window
	uses   []txUse

	probing bool
	probe   uint64 // number of the last one
	posted  int    // probes that have not completed
	next    uint64 // messages from next to end have to be sent again
	end     uint64

	since   time.Time // of the last acknowledgement, or probe
	alive   time.Time // of the last acknowledgement
	backoff int       // times Config.Retry until the next probe
	starved bool      // the lane waits for a grant
}

// txUse is the state of a tx slot.
type txUse struct {
	size    int  // bytes to send
	posted  int  // requests that have not completed
	pending bool // not acknowledged
}

func newRepair(window int, now time.Time) repair {
	return repair{slotOf: make([]int, window), uses: make([]txUse, window), since: now, alive: now, backoff: 1}
}

// busy reports whether a repair is under way.
func (r *repair) busy() bool { return r.probing || r.next < r.end }

// unacked returns the number of messages that the peer has not acknowledged.
func (o *laneOut) unacked() int { return int(o.next - o.repair.acked) }

// keep records a message that is about to be sent for the first time.
func (r *repair) keep(seq uint64, slot, size int, now time.Time) {
	r.slotOf[seq%uint64(len(r.slotOf))] = slot
	r.uses[slot] = txUse{size: size, posted: 1, pending: true}
	if seq == r.acked {
		r.since, r.alive = now, now // the lane was idle
	}
}

// landed records that a request to send a slot has completed.
func (r *repair) landed(o *laneOut, slot int) {
	if slot == o.slots-1 {
		r.posted--
		return
	}
	r.uses[slot].posted--
	r.reuse(o, slot)
}

// reuse frees a slot if it is acknowledged and no request uses it.
func (r *repair) reuse(o *laneOut, slot int) {
	if u := &r.uses[slot]; !u.pending && u.posted == 0 {
		o.free = append(o.free, slot)
	}
}

// acknowledged records that the peer has everything below ack.
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

// answered records the answer to a probe. The acknowledgement that came with it has
// been processed.
func (r *repair) answered(o *laneOut, probe uint64) {
	if r.probing && probe == r.probe {
		r.probing = false
		r.next, r.end = r.acked, o.next
	}
}

// ask sends a probe, unless the last one has not completed.
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

// mend sends again what is missing at the peer.
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

// overdue handles the timeouts of a lane: it sends a probe when acknowledgements are
// late, requests a grant that may have been lost, and finally gives the peer up.
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
