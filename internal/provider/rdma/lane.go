package rdma

import (
	"fmt"
	"time"
	"unsafe"

	"thundercollective/fabric"
	"thundercollective/internal/provider/rdma/internal/hca"
)

// The ID of a work request identifies it: bit 63 is set for sends, bits 32 to 62 are
// the lane, and the rest is the slot of a receive.
const (
	idSend      = 1 << 63
	idLaneShift = 32
)

// A lane is one queue pair and its slots. Lane 0 of a link is the small one; lane 1+r
// carries bulk data on rail r. A lane and its two directions are guarded by Link.mu.
//
// Data messages on a lane are numbered from 0. The receiver grants the sender a limit,
// and the sender sends only numbers below it. The limit is freed+window, where freed
// counts the messages whose slots are free again. As there are window+spare receives,
// one is always posted for every message that may arrive.
type lane struct {
	l      *Link
	id     int
	rail   *rail
	qp     hca.QP
	shape  laneShape
	stride int // from slot to slot
	in     laneIn
	out    laneOut
}

// laneIn is the receiving direction of a lane.
type laneIn struct {
	mem      []byte // window+spare slots
	posted   int    // receives with the device
	ready    ring[piece]
	expect   uint64 // number of the next data message
	freed    uint64 // data messages whose slots are free again
	saidAck  uint64 // expect and freed as last sent to the peer
	saidFree uint64
	gap      bool   // message expect was lost or damaged
	probed   uint64 // number of the last probe
	ackNow   bool   // the peer waits for an acknowledgement
}

// laneOut is the sending direction of a lane.
type laneOut struct {
	mem    []byte
	slots  int          // of mem; see txSlots
	sq     int          // entries of the send queue that are free
	wr     hca.SendWR   // the request being posted
	flight ring[flight] // requests that have not completed
	free   []int        // slots
	next   uint64       // number of the next data message
	limit  uint64       // granted by the peer; it takes data messages below
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

// A flight is a send request that has not completed. The requests of a queue pair
// complete in the order of posting.
type flight struct {
	slot    int     // to send from; -1 if none
	op      *sendOp // whose buffer is read; nil if none
	entries int     // of the send queue
}

// openLane makes a lane in the first part of mem, and returns the rest.
func (l *Link) openLane(id int, r *rail, mem []byte) ([]byte, error) {
	shape, recv, send := l.plan.queueSizes(id)
	ln := &lane{l: l, id: id, rail: r, shape: shape, stride: l.plan.stride(shape)}
	n := ln.stride * (shape.window + shape.spare)
	ln.in.mem, mem = mem[:n], mem[n:]
	ln.out.sq, ln.out.limit, ln.out.slots = send, uint64(shape.window), txSlots(id, shape)
	n = ln.stride * ln.out.slots
	ln.out.mem, mem = mem[:n], mem[n:]
	for slot := range shape.window {
		ln.out.free = append(ln.out.free, slot)
	}
	if !l.rc {
		ln.out.repair = newRepair(shape.window, time.Now())
	}
	var err error
	ln.qp, err = r.dev.pd.NewQP(hca.QPConfig{RC: l.rc, CQ: r.cq, SendWR: send, RecvWR: recv, MaxSGE: l.plan.sge, Port: l.f.cfg.Port})
	if err != nil {
		return nil, fmt.Errorf("RDMA device %s cannot create another queue pair (it reports a limit of %d): %w", r.dev.dev.Name(), r.dev.lim.MaxQP, err)
	}
	l.f.books.qps.Add(1)
	l.lanes = append(l.lanes, ln)
	return mem, nil
}

// rxSlot returns a slot for receiving.
func (ln *lane) rxSlot(i int) []byte {
	return ln.in.mem[i*ln.stride : i*ln.stride+ln.shape.size]
}

// txSlot returns a slot for sending.
func (ln *lane) txSlot(i int) []byte {
	return ln.out.mem[i*ln.stride : i*ln.stride+ln.shape.size]
}

// address returns the address of b, for the device.
func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
