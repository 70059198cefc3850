package rdma

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// A rail is a link's part of one device: a queue pair for bulk data, on the first
// rail one for small messages too, and the memory of their slots. It does not change
// once the link is open.
type rail struct {
	dev  *device
	mem  []byte
	mr   hca.MR
	lkey uint32
	ch   hca.Channel // nil where there are no events
	cq   hca.CQ
}

// queueSizes returns the shape of a lane and the number of entries of its receive and
// send queues.
func (p *plan) queueSizes(id int) (shape laneShape, recv, send int) {
	shape = p.bulk
	if id == 0 {
		shape = p.small
	}
	per := p.frames(shape.size)
	recv = (shape.window + shape.spare) * per
	switch {
	case id == 0 && p.rc:
		send = shape.window + controlSlots
	case id == 0:
		send = smallDepthUC * per
	case p.rc:
		send = shape.window + directQueue
	default:
		send = (shape.window + shape.spare) * per
	}
	return shape, recv, send
}

// txSlots returns the number of a lane's slots for sending: the last is for probes, and
// on the small lane those before it are for control messages.
func txSlots(id int, s laneShape) int {
	if id == 0 {
		return s.window + controlSlots + 1
	}
	return s.window + 1
}

// stride returns the distance between slots in memory.
func (p *plan) stride(s laneShape) int {
	const line = 128
	return (s.size + line - 1) &^ (line - 1)
}

// openRail makes everything that a link needs on its rail number i.
func (l *Link) openRail(i int, dev *device) (err error) {
	books, p := &l.f.books, l.plan
	r := &rail{dev: dev}
	l.rails = append(l.rails, r) // so that closeRails releases what was made
	ids := []int{1 + i}
	if i == 0 {
		ids = []int{0, 1}
	}
	bytes, entries := 0, 0
	for _, id := range ids {
		shape, recv, send := p.queueSizes(id)
		bytes += p.stride(shape) * (shape.window + shape.spare + txSlots(id, shape))
		entries += recv + send
	}
	const page = 16 << 10
	if r.mem, err = l.f.cfg.Host.Map((bytes + page - 1) &^ (page - 1)); err != nil {
		return err
	}
	if r.mr, err = dev.register(books, r.mem); err != nil {
		return err
	}
	r.lkey = r.mr.LKey()
	if r.ch, err = dev.dev.NewChannel(); err == nil {
		books.channels.Add(1)
	} else if r.ch = nil; !errors.Is(err, hca.ErrNoChannel) {
		return err
	}
	if r.cq, err = dev.dev.NewCQ(entries, r.ch); err != nil {
		return fmt.Errorf("RDMA device %s: completion queue of %d entries: %w", dev.dev.Name(), entries, err)
	}
	books.cqs.Add(1)
	mem := r.mem
	for _, id := range ids {
		if mem, err = l.openLane(id, r, mem); err != nil {
			return err
		}
	}
	return nil
}

// makePSNs chooses the first packet number of each lane.
func makePSNs(lanes int) []uint32 {
	psn := make([]uint32, lanes)
	for i := range psn {
		psn[i] = rand.Uint32N(1 << 24)
	}
	return psn
}

// connect connects every queue pair to the peer's and posts the receives.
func (l *Link) connect(psn []uint32, theirs *answer, peerRails []railOffer) error {
	if len(theirs.QPN) != len(l.lanes) || len(theirs.PSN) != len(l.lanes) {
		return errProtocol
	}
	for i, ln := range l.lanes {
		far, near := peerRails[max(0, i-1)], ln.rail.dev
		err := ln.qp.Connect(hca.Remote{
			QPN: theirs.QPN[i], PSN: theirs.PSN[i], LID: far.LID, GID: far.GID, MTU: min(far.MTU, near.port.MTU),
			Port: l.f.cfg.Port, GIDIndex: near.gid.Index, Global: near.port.LinkLayer != hca.InfiniBand,
			LocalPSN: psn[i], HopLimit: near.lim.HopLimit,
		})
		if err != nil {
			return fmt.Errorf("RDMA device %s to %s at %s: %w", near.dev.Name(), far.Device, hca.GID{Addr: far.GID}, err)
		}
		for slot := range ln.shape.window + ln.shape.spare {
			ln.postRecv(slot)
		}
	}
	return l.err
}

// closeRails releases all objects of the link, which are no longer in use.
func (l *Link) closeRails() error {
	var first error
	books := &l.f.books
	for _, ln := range l.lanes {
		release(&books.qps, ln.qp, &first)
	}
	for _, r := range l.rails {
		if r.cq != nil {
			release(&books.cqs, r.cq, &first)
		}
		if r.ch != nil {
			release(&books.channels, r.ch, &first)
		}
		if r.mr != nil {
			release(&books.mrs, r.mr, &first)
		}
		if r.mem == nil {
			continue
		}
		if err := l.f.cfg.Host.Unmap(r.mem); first == nil {
			first = err
		}
	}
	return first
}
