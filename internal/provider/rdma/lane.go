package rdma

import (
	"unsafe"

	"thundercollective/fabric"
	"thundercollective/internal/provider/rdma/internal/hca"
)

// Work requests are told apart by their IDs: bit 63 marks sends, bits 32 and up
// name the lane, and the rest is a receive's slot.
const (
	idSend      = 1 << 63
	idLaneShift = 32
)

// A lane is one queue pair and its slots. Lane 0 of a link is the small one; lane
// 1+r carries bulk data on rail r. Everything here is guarded by Link.mu.
//
// Data messages on a lane are numbered from 0. The receiver grants the sender a
// limit, and the sender never posts a number that is not below it: freed+window,
// where freed counts the messages whose slots the receiver has taken back. As
// window+spare receives exist, one is always posted for a message that may come.
type lane struct {
	id     int
	rail   *rail
	qp     hca.QP
	shape  laneShape
	stride int // from slot to slot

	// Receiving.
	rx       []byte // window+spare slots
	posted   int    // receives with the device
	ready    ring[piece]
	expect   uint64 // number of the next data message
	freed    uint64
	saidAck  uint64 // expect and limit as last told to the peer
	saidFree uint64
	gap      bool   // expect was lost or damaged, and the peer was told
	probed   uint64 // number of the last probe
	ackNow   bool   // the peer waits to hear of expect

	// Sending.
	tx     []byte
	slots  int // of tx; see txSlots
	sq     int // entries of the send queue that are free
	flight ring[flight]
	free   []int // tx slots
	next   uint64
	limit  uint64
	repair repair
}

// A piece is a data message in a receive slot.
type piece struct {
	slot     int
	msg      uint64
	len, off uint64
	n        int
	tag      fabric.Tag
}

// A flight is a send request with the device. Requests of a queue pair complete
// in the order of posting.
type flight struct {
	slot    int     // tx slot; -1 if none
	op      *sendOp // whose buffer is read; nil if none
	entries int     // of the send queue
}

func (ln *lane) rxSlot(i int) []byte {
	return ln.rx[i*ln.stride : i*ln.stride+ln.shape.size]
}

func (ln *lane) txSlot(i int) []byte {
	return ln.tx[i*ln.stride : i*ln.stride+ln.shape.size]
}

// address is where the device finds the start of b.
func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// postRecv gives a receive slot to the device.
func (l *Link) postRecv(ln *lane, slot int) {
	b := ln.rxSlot(slot)
	err := ln.qp.PostRecv(uint64(ln.id)<<idLaneShift|uint64(slot), hca.SGE{Addr: address(b), Len: uint32(len(b)), LKey: ln.rail.lkey})
	if err != nil {
		l.lose(err)
		return
	}
	ln.posted++
}

// giveBack returns the slot of a data message: the sender may be granted another.
func (l *Link) giveBack(ln *lane, slot int) {
	l.postRecv(ln, slot)
	ln.freed++
}

// grant is the limit that the receiver can give.
func (ln *lane) grant() uint64 { return ln.freed + uint64(ln.shape.window) }

// hasCredit reports whether a data message may be sent.
func (ln *lane) hasCredit() bool { return ln.next < ln.limit && !ln.repair.busy() }

// hasRoom reports whether the send queue takes another request of that many
// entries. On the small lane some are kept for control messages.
func (ln *lane) hasRoom(entries int) bool {
	if ln.id == 0 {
		entries += controlSlots
	}
	return ln.sq >= entries
}

// takeSlot returns a free tx slot; the caller knows that there is one.
func (ln *lane) takeSlot() int {
	slot := ln.free[len(ln.free)-1]
	ln.free = ln.free[:len(ln.free)-1]
	return slot
}

// post hands a request to the device. f says what to do when it is complete.
func (l *Link) post(ln *lane, wr hca.SendWR, f flight) {
	wr.ID = idSend | uint64(ln.id)<<idLaneShift
	l.wr = wr
	if err := ln.qp.PostSend(&l.wr); err != nil {
		l.lose(err)
		l.landed(ln, f)
		return
	}
	ln.sq -= f.entries
	if f.op != nil {
		f.op.reads++
		l.toPeer.reading++
	}
	ln.flight.push(f)
}

// sent is the completion of the oldest request. A message with one that failed is
// never done; the link is lost.
func (l *Link) sent(ln *lane, ok bool) {
	f := ln.flight.pop()
	ln.sq += f.entries
	if f.op != nil {
		f.op.reads--
		f.op.failed = f.op.failed || !ok
		l.toPeer.reading--
		l.settle(f.op)
	}
	l.landed(ln, f)
}

// landed takes back the slot of a request that is over.
func (l *Link) landed(ln *lane, f flight) {
	switch {
	case f.slot < 0:
	case f.slot >= ln.shape.window && f.slot < ln.slots-1:
		l.controlFree = append(l.controlFree, f.slot)
	case l.rc:
		ln.free = append(ln.free, f.slot)
	default:
		ln.repair.landed(ln, f.slot)
	}
}
