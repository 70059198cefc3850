package verbs

import (
	"fmt"
	"math/bits"
	"syscall"

	"github.com/ebitengine/purego"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// Timeouts of a reliable queue pair: 7 tries of 268 ms, so that a peer that is gone is
// detected within two seconds. Receives are always posted before the peer may send, so
// RNR retries never happen.
const (
	ackTimeout  = 16 // 4.096 µs << 16
	retries     = 7
	rnrRetries  = 6
	minRNRTimer = 12 // 0.64 ms
)

// qp is an hca.QP. Its requests are written to mapped memory, one at a time: the library
// has read a request when the call that posts it returns.
type qp struct {
	lib  *library
	ctx  *context
	qp   uintptr
	rc   bool
	page page
	swr  *sendWR
	ssge *[2]sge
	rwr  *recvWR
	rsge *sge
	bad  *uintptr
	send [3]uintptr // arguments, kept so that a call does not allocate
	recv [3]uintptr
}

// NewQP implements hca.PD. The queue pair is in the state INIT.
func (p *protectionDomain) NewQP(cfg hca.QPConfig) (hca.QP, error) {
	q := &qp{lib: p.dev.lib, ctx: at[context](p.dev.ctx), rc: cfg.RC}
	var err error
	if q.page, err = newPage(); err != nil {
		return nil, err
	}
	if err := q.create(p.pd, cfg); err != nil {
		q.page.free()
		return nil, err
	}
	q.swr, q.ssge = carve[sendWR](&q.page), carve[[2]sge](&q.page)
	q.rwr, q.rsge, q.bad = carve[recvWR](&q.page), carve[sge](&q.page), carve[uintptr](&q.page)
	q.swr.sgList, q.swr.flags = ptr(q.ssge), sendSignaled
	q.rwr.sgList, q.rwr.numSGE = ptr(q.rsge), 1
	q.send = [3]uintptr{q.qp, ptr(q.swr), ptr(q.bad)}
	q.recv = [3]uintptr{q.qp, ptr(q.rwr), ptr(q.bad)}
	return q, nil
}

func (q *qp) create(pd uintptr, cfg hca.QPConfig) error {
	cq, ok := cfg.CQ.(*completionQueue)
	if !ok {
		return fmt.Errorf("completion queue of another package: %T", cfg.CQ)
	}
	init := carve[qpInitAttr](&q.page)
	*init = qpInitAttr{
		sendCQ: cq.cq, recvCQ: cq.cq,
		maxSendWR: uint32(cfg.SendWR), maxRecvWR: uint32(cfg.RecvWR),
		maxSendSGE: uint32(cfg.MaxSGE), maxRecvSGE: 1,
		qpType: qptUC, sqSigAll: 1,
	}
	if cfg.RC {
		init.qpType = qptRC
	}
	var err error
	if q.qp, err = q.lib.createQP.object(pd, ptr(init)); err != nil {
		return err
	}
	attr := qpAttr{state: stateInit, portNum: uint8(cfg.Port), accessFlags: accessLocalWrite | accessRemoteWrite}
	if err := q.modify("INIT", attr, maskState|maskPkeyIndex|maskPort|maskAccessFlags); err != nil {
		q.lib.destroyQP.call(q.qp)
		return err
	}
	return nil
}

// modify moves the queue pair to another state.
func (q *qp) modify(to string, a qpAttr, mask uintptr) error {
	page, err := newPage()
	if err != nil {
		return err
	}
	defer page.free()
	attr := carve[qpAttr](&page)
	*attr = a
	if err := q.lib.modifyQP.do(q.qp, ptr(attr), mask); err != nil {
		return fmt.Errorf("moving queue pair to %s: %w", to, err)
	}
	return nil
}

// Num implements hca.QP.
func (q *qp) Num() uint32 { return at[queuePair](q.qp).num }

// Connect implements hca.QP.
func (q *qp) Connect(r hca.Remote) error {
	rtr := qpAttr{
		state: stateRTR, pathMTU: uint32(bits.Len(uint(r.MTU)) - 8), destQPN: r.QPN, rqPSN: r.PSN,
		minRNRTimer: minRNRTimer, maxDestRDAtomic: 1,
		ah: ahAttr{dlid: r.LID, portNum: uint8(r.Port)},
	}
	if r.Global {
		rtr.ah.isGlobal, rtr.ah.dgid = 1, r.GID
		rtr.ah.sgidIndex, rtr.ah.hopLimit = uint8(r.GIDIndex), r.HopLimit
	}
	mask := uintptr(maskState | maskAV | maskPathMTU | maskDestQPN | maskRQPSN)
	if q.rc {
		mask |= maskMaxDestRDAtomic | maskMinRNRTimer
	}
	if err := q.modify("RTR (ready to receive)", rtr, mask); err != nil {
		return err
	}
	rts := qpAttr{state: stateRTS, sqPSN: r.LocalPSN, timeout: ackTimeout, retryCnt: retries, rnrRetry: rnrRetries, maxRDAtomic: 1}
	mask = maskState | maskSQPSN
	if q.rc {
		mask |= maskTimeout | maskRetryCnt | maskRNRRetry | maskMaxRDAtomic
	}
	return q.modify("RTS (ready to send)", rts, mask)
}

var opcodes = [...]uint32{hca.Send: wrSend, hca.Write: wrWrite, hca.WriteImm: wrWriteImm}

// PostSend implements hca.QP.
func (q *qp) PostSend(wr *hca.SendWR) error {
	s := q.swr
	s.id, s.opcode, s.numSGE = wr.ID, opcodes[wr.Op], int32(wr.NSGE)
	s.imm, s.remoteAddr, s.rkey = bits.ReverseBytes32(wr.Imm), wr.RemoteAddr, wr.RKey
	for i := range wr.NSGE {
		q.ssge[i] = sge{wr.SGE[i].Addr, wr.SGE[i].Len, wr.SGE[i].LKey}
	}
	if r, _, _ := purego.SyscallN(q.ctx.postSend, q.send[:]...); int32(r) != 0 {
		return &Error{Verb: "ibv_post_send", Errno: postErrno(r)}
	}
	return nil
}

// PostRecv implements hca.QP.
func (q *qp) PostRecv(id uint64, s hca.SGE) error {
	q.rwr.id = id
	*q.rsge = sge{s.Addr, s.Len, s.LKey}
	if r, _, _ := purego.SyscallN(q.ctx.postRecv, q.recv[:]...); int32(r) != 0 {
		return &Error{Verb: "ibv_post_recv", Errno: postErrno(r)}
	}
	return nil
}

// postErrno converts the result of a post: an error number, negative with some
// providers.
func postErrno(r uintptr) syscall.Errno {
	if rc := int32(r); rc < 0 {
		return syscall.Errno(-rc)
	}
	return syscall.Errno(int32(r))
}

// Fail implements hca.QP.
func (q *qp) Fail() error { return q.modify("ERR", qpAttr{state: stateErr}, maskState) }

// Close implements hca.QP.
func (q *qp) Close() error {
	err := q.lib.destroyQP.do(q.qp)
	q.page.free()
	return err
}
