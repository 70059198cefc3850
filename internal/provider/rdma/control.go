package rdma

import (
	"time"

	"thundercollective/fabric"
)

// A control message reports the state of every lane and carries what else there
// is to say. It needs no grant: the small lane has receives for as many as can be
// under way. On an unreliable device it may be lost, and nothing depends on one.
//
// Behind the header, at fixed places:
//
//	  0 flags
//	  8 for each of 1+maxRails lanes: acknowledged, limit, last probe, gap (8 bytes each)
//	168 advert: msg, len, addr, tag, one key per rail
//	240 announcement: msg, len, tag
const (
	controlSize = 288

	atLanes    = 8
	laneSize   = 32
	atAdvert   = atLanes + (1+maxRails)*laneSize
	atAnnounce = atAdvert + 24 + fabric.TagSize + maxRails*4

	flagRequest  = 1 << 0 // answer with a control message
	flagAdvert   = 1 << 1
	flagAnnounce = 1 << 2
	flagSlots    = 1 << 3 // the message that was announced is wanted in slots
)

// An advert tells the sender where message msg may be written.
type advert struct {
	msg, len, addr uint64
	tag            fabric.Tag
	keys           [maxRails]uint32
}

// An announcement tells the receiver of a message whose sender waits to be told
// how to send it.
type announcement struct {
	msg, len uint64
	tag      fabric.Tag
}

// outbox is what the next control message has to carry.
type outbox struct {
	request  bool
	advert   *advert // points into the link
	announce *announcement
	slots    bool
}

func (o *outbox) empty() bool {
	return !o.request && o.advert == nil && o.announce == nil && !o.slots
}

// due reports whether the peer has to hear of a lane: a quarter of its window
// has become free or has arrived, or it waits.
func (l *Link) due(ln *lane) bool {
	quarter := uint64(max(1, ln.shape.window/4))
	return ln.ackNow || ln.freed-ln.saidFree >= quarter || !l.rc && ln.expect-ln.saidAck >= quarter
}

// emit sends a control message when there is a reason for one and a slot.
func (l *Link) emit() {
	reason := !l.out.empty()
	for _, ln := range l.lanes {
		reason = reason || l.due(ln)
	}
	if !reason || len(l.controlFree) == 0 || l.err != nil {
		return
	}
	ln := l.lanes[0]
	slot := l.controlFree[len(l.controlFree)-1]
	l.controlFree = l.controlFree[:len(l.controlFree)-1]
	b := ln.txSlot(slot)[:headerSize+controlSize]
	h := header{kind: kindControl, n: controlSize}
	h.put(b)
	l.putControl(b[headerSize:])
	if !l.rc {
		seal(b)
	}
	l.sendSlot(ln, slot, len(b), 1)
}

func (l *Link) putControl(b []byte) {
	clear(b)
	for i, ln := range l.lanes {
		at := b[atLanes+laneSize*i:]
		le.PutUint64(at, ln.expect)
		le.PutUint64(at[8:], ln.grant())
		le.PutUint64(at[16:], ln.probed)
		if ln.gap {
			at[24] = 1
		}
		l.told(ln)
	}
	if l.out.request {
		b[0] |= flagRequest
	}
	if a := l.out.advert; a != nil {
		b[0] |= flagAdvert
		at := b[atAdvert:]
		le.PutUint64(at, a.msg)
		le.PutUint64(at[8:], a.len)
		le.PutUint64(at[16:], a.addr)
		copy(at[24:], a.tag[:])
		for i, k := range a.keys {
			le.PutUint32(at[24+fabric.TagSize+4*i:], k)
		}
	}
	if a := l.out.announce; a != nil {
		b[0] |= flagAnnounce
		at := b[atAnnounce:]
		le.PutUint64(at, a.msg)
		le.PutUint64(at[8:], a.len)
		copy(at[16:], a.tag[:])
	}
	if l.out.slots {
		b[0] |= flagSlots
	}
	l.out = outbox{}
}

// told notes that the peer is being told of a lane.
func (l *Link) told(ln *lane) {
	ln.saidAck, ln.saidFree, ln.ackNow = ln.expect, ln.freed, false
}

// control acts on a control message of the peer.
func (l *Link) control(b []byte, now time.Time) {
	for i, ln := range l.lanes {
		at := b[atLanes+laneSize*i:]
		l.heed(ln, le.Uint64(at), le.Uint64(at[8:]), now)
		if l.rc {
			continue
		}
		r := &ln.repair
		r.answered(ln, le.Uint64(at[16:]))
		if at[24] != 0 && le.Uint64(at) == r.acked && r.unacked(ln) > 0 && !r.busy() {
			l.ask(ln, now)
		}
	}
	if b[0]&flagRequest != 0 {
		l.lanes[0].ackNow = true
	}
	if b[0]&flagAdvert != 0 {
		a, at := &l.toPeer.advert, b[atAdvert:]
		*a = advert{msg: le.Uint64(at), len: le.Uint64(at[8:]), addr: le.Uint64(at[16:])}
		copy(a.tag[:], at[24:])
		for i := range a.keys {
			a.keys[i] = le.Uint32(at[24+fabric.TagSize+4*i:])
		}
		l.toPeer.hasAdvert, l.toPeer.inSlots = true, false
	}
	if b[0]&flagSlots != 0 {
		l.toPeer.inSlots = true
	}
	if b[0]&flagAnnounce != 0 {
		a, at := &l.fromPeer.announced, b[atAnnounce:]
		*a = announcement{msg: le.Uint64(at), len: le.Uint64(at[8:])}
		copy(a.tag[:], at[16:])
		l.fromPeer.hasAnnounced = true
		l.notify(&l.fromPeer.side)
	}
}

// heed acts on what the peer says of a lane: what it has, and what it grants.
func (l *Link) heed(ln *lane, ack, limit uint64, now time.Time) {
	if limit > ln.limit {
		ln.limit = limit
		ln.repair.starved = false
	}
	if !l.rc {
		ln.repair.acknowledged(ln, ack, now)
	}
}
