package rdmatest

import "thundercollective/internal/provider/rdma/internal/hca"

// run carries out the requests of the send queue.
func (q *qp) run() {
	defer close(q.exited)
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for q.state != closed && len(q.sq) == 0 {
			q.wake.Wait()
		}
		if q.state == closed {
			return
		}
		wr := q.sq[0]
		q.sq = append(q.sq[:0], q.sq[1:]...)
		q.busy = true
		q.mu.Unlock()

		status := q.gather(&wr)
		n := len(q.wire)
		if status == hca.Success {
			status = q.carry(&wr)
		}

		q.mu.Lock()
		q.busy = false
		q.sqLen -= q.dev.net.opt.Frames(n)
		if q.state != ready && q.state != closed {
			status = hca.Flushed
		}
		q.cq.push(hca.WC{ID: wr.ID, Status: status})
		if status != hca.Success {
			q.fail()
		}
		q.wake.Broadcast()
	}
}

// gather reads the message into q.wire.
func (q *qp) gather(wr *hca.SendWR) hca.Status {
	q.wire = q.wire[:0]
	for _, s := range wr.SGE[:wr.NSGE] {
		mem := q.dev.memory(s.Addr, int(s.Len), s.LKey)
		if mem == nil {
			q.dev.net.note("send from memory that is not registered")
			return hca.LocalProt
		}
		q.wire = append(q.wire, mem...)
	}
	return hca.Success
}

// carry delivers the message to the peer. On an unreliable queue pair the sender does
// not learn whether it arrived.
func (q *qp) carry(wr *hca.SendWR) hca.Status {
	net := q.dev.net
	peer := net.lookup(q.peer)
	if peer == nil || peer.dev.num != q.dev.num || peer.dev.host.isDead() || q.dev.host.isDead() {
		return q.verdict(hca.RetryExceeded)
	}
	if !q.cfg.RC && net.opt.Noise != nil {
		d := net.opt.Noise(Message{From: q.dev.host.num, To: peer.dev.host.num, Device: q.dev.num, Len: len(q.wire)})
		if d.Drop {
			return hca.Success
		}
		if d.Flip > 0 {
			q.wire[(d.Flip-1)/8] ^= 1 << ((d.Flip - 1) % 8)
		}
	}
	peer.mu.Lock()
	defer peer.mu.Unlock()
	if peer.state != ready || peer.peer != q.self {
		return q.verdict(hca.RetryExceeded)
	}
	if wr.Op != hca.Send {
		mem := peer.dev.memory(wr.RemoteAddr, len(q.wire), wr.RKey)
		if mem == nil {
			net.note("write to memory that is not registered")
			return q.verdict(10)
		}
		copy(mem, q.wire)
		if wr.Op == hca.Write {
			return hca.Success
		}
	}
	if len(peer.rq) == 0 {
		net.note("message of %d bytes found no posted receive", len(q.wire))
		return q.verdict(hca.RNRExceeded)
	}
	r := peer.popRecv()
	if wr.Op == hca.WriteImm {
		peer.cq.push(hca.WC{ID: r.id, Op: hca.RecvImm, Len: uint32(len(q.wire)), Imm: wr.Imm})
		return hca.Success
	}
	mem := peer.dev.memory(r.sge.Addr, int(r.sge.Len), r.sge.LKey)
	if mem == nil || len(q.wire) > len(mem) || net.opt.Frames(len(q.wire)) != net.opt.Frames(len(mem)) {
		net.note("message of %d bytes does not fit a receive of %d", len(q.wire), len(mem))
		peer.cq.push(hca.WC{ID: r.id, Status: hca.LocalLength})
		peer.fail()
		return q.verdict(9)
	}
	copy(mem, q.wire)
	peer.cq.push(hca.WC{ID: r.id, Op: hca.Recv, Len: uint32(len(q.wire))})
	return hca.Success
}

// verdict returns the status that the sender gets for a message that did not arrive.
func (q *qp) verdict(s hca.Status) hca.Status {
	if q.cfg.RC {
		return s
	}
	return hca.Success
}
