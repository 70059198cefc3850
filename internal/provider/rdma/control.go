package rdma

import (
	"time"

	"thundercollective/fabric"
)

// A control message carries the state of every lane and a notice. It needs no grant: the
// small lane has receives for as many as can be under way. On an unreliable device it
// may be lost; nothing depends on a single one.
//
// After the header, at fixed offsets:
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

	flagRequest  = 1 << 0 // the peer has to answer with a control message
	flagAdvert   = 1 << 1
	flagAnnounce = 1 << 2
	flagSlots    = 1 << 3 // send the announced message in slots
)

// An advert tells the sender where message msg may be written.
type advert struct {
	msg, len, addr uint64
	tag            fabric.Tag
	keys           [maxRails]uint32
}

// An announcement tells the receiver that a sender waits to learn how to send a
// message.
type announcement struct {
	msg, len uint64
	tag      fabric.Tag
}

// notice is what a control message carries in addition to the state of the lanes.
type notice struct {
	request  bool
	advert   *advert // of the receiver
	announce *announcement
	slots    bool
}

func (n *notice) empty() bool {
	return !n.request && n.advert == nil && n.announce == nil && !n.slots
}

// control sends and reads control messages. It is guarded by Link.mu.
type control struct {
	l    *Link
	next notice // for the next control message
	free []int  // slots of lane 0 for control messages
}

func newControl(l *Link) control {
	c := control{l: l}
	for i := range controlSlots {
		c.free = append(c.free, l.plan.small.window+i)
	}
	return c
}

// emit sends a control message if there is a reason for one and a free slot.
func (c *control) emit() {
	reason := !c.next.empty()
	for _, ln := range c.l.lanes {
		reason = reason || ln.due()
	}
	if !reason || len(c.free) == 0 || c.l.err != nil {
		return
	}
	ln := c.l.lanes[0]
	slot := c.free[len(c.free)-1]
	c.free = c.free[:len(c.free)-1]
	b := ln.txSlot(slot)[:headerSize+controlSize]
	h := header{kind: kindControl, n: controlSize}
	h.put(b)
	c.write(b[headerSize:])
	if !c.l.rc {
		seal(b)
	}
	ln.sendSlot(slot, len(b), 1)
}

// write writes the state of the lanes and the next notice to b.
func (c *control) write(b []byte) {
	clear(b)
	for i, ln := range c.l.lanes {
		at := b[atLanes+laneSize*i:]
		le.PutUint64(at, ln.in.expect)
		le.PutUint64(at[8:], ln.grant())
		le.PutUint64(at[16:], ln.in.probed)
		if ln.in.gap {
			at[24] = 1
		}
		ln.told()
	}
	if c.next.request {
		b[0] |= flagRequest
	}
	if a := c.next.advert; a != nil {
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
	if a := c.next.announce; a != nil {
		b[0] |= flagAnnounce
		at := b[atAnnounce:]
		le.PutUint64(at, a.msg)
		le.PutUint64(at[8:], a.len)
		copy(at[16:], a.tag[:])
	}
	if c.next.slots {
		b[0] |= flagSlots
	}
	c.next = notice{}
}

// read acts on a control message of the peer.
func (c *control) read(b []byte, now time.Time) {
	l := c.l
	for i, ln := range l.lanes {
		at := b[atLanes+laneSize*i:]
		ln.heed(le.Uint64(at), le.Uint64(at[8:]), now)
		if l.rc {
			continue
		}
		r := &ln.out.repair
		r.answered(&ln.out, le.Uint64(at[16:]))
		if at[24] != 0 && le.Uint64(at) == r.acked && ln.out.unacked() > 0 && !r.busy() {
			ln.ask(now)
		}
	}
	if b[0]&flagRequest != 0 {
		l.lanes[0].in.ackNow = true
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
		l.fromPeer.notify()
	}
}
