package rdmatest

import (
	"fmt"
	"sync"
	"syscall"

	"thundercollective/internal/provider/rdma/internal/hca"
)

type state int

const (
	initial state = iota
	ready
	failed
	closed
)

type receive struct {
	id  uint64
	sge hca.SGE
}

// qp is an hca.QP. A goroutine works through its send queue.
type qp struct {
	dev  *device
	cq   *cq
	cfg  hca.QPConfig
	num  uint32
	self address
	peer address

	mu     sync.Mutex
	wake   *sync.Cond // sq, state or busy has changed
	state  state
	sq     []hca.SendWR
	sqLen  int // entries in use, including those of the current request
	rq     []receive
	rqLen  int
	busy   bool   // the goroutine reads memory of a request
	wire   []byte // the current message
	exited chan struct{}
}

// NewQP implements hca.PD.
func (p *pd) NewQP(cfg hca.QPConfig) (hca.QP, error) {
	d, lim := p.dev, p.dev.net.opt.Limits
	if cfg.RC != lim.RC && cfg.RC || cfg.SendWR > lim.MaxQPWR || cfg.RecvWR > lim.MaxQPWR || cfg.MaxSGE > lim.MaxSGE || cfg.Port != 1 {
		return nil, syscall.EINVAL
	}
	d.mu.Lock()
	if d.nqp >= lim.MaxQP {
		d.mu.Unlock()
		return nil, fmt.Errorf("the limit is %d queue pairs: %w", lim.MaxQP, syscall.ENOMEM)
	}
	d.nqp++
	d.mu.Unlock()
	d.use("QP", 1)

	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	d.net.qpn++
	q := &qp{dev: d, cq: cfg.CQ.(*cq), cfg: cfg, num: d.net.qpn, exited: make(chan struct{})}
	q.wake = sync.NewCond(&q.mu)
	q.self = address{d.gid(), q.num}
	d.net.qps[q.self] = q
	go q.run()
	return q, nil
}

func (q *qp) Num() uint32 { return q.num }

// Connect implements hca.QP.
func (q *qp) Connect(r hca.Remote) error {
	gids, _ := q.dev.GIDs(1)
	if !r.Global || r.Port != 1 || r.HopLimit == 0 || r.GIDIndex >= len(gids) || r.GIDIndex == 0 {
		q.dev.net.note("queue pair connected with GID index %d, global %v, port %d", r.GIDIndex, r.Global, r.Port)
		return syscall.EINVAL
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.state != initial {
		return syscall.EINVAL
	}
	q.peer = address{r.GID, r.QPN}
	q.state = ready
	q.wake.Broadcast()
	return nil
}

// PostSend implements hca.QP.
func (q *qp) PostSend(wr *hca.SendWR) error {
	n := 0
	for _, s := range wr.SGE[:wr.NSGE] {
		n += int(s.Len)
	}
	lim := q.dev.net.opt.Limits
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case wr.NSGE > q.cfg.MaxSGE:
		q.dev.net.note("request with %d pieces of memory", wr.NSGE)
		return syscall.EINVAL
	case wr.Op != hca.Send && !q.cfg.RC:
		q.dev.net.note("operation %d on a device that only sends", wr.Op)
		return syscall.EINVAL
	case int64(n) > lim.MaxMessage:
		q.dev.net.note("message of %d bytes", n)
		return syscall.EINVAL
	case q.state == initial:
		return syscall.EINVAL
	case q.state != ready:
		q.cq.push(hca.WC{ID: wr.ID, Status: hca.Flushed})
		return nil
	case q.sqLen+lim.Frames(n) > q.cfg.SendWR:
		q.dev.net.note("send queue of %d entries overran", q.cfg.SendWR)
		return syscall.ENOMEM
	}
	q.sqLen += lim.Frames(n)
	q.sq = append(q.sq, *wr)
	q.wake.Broadcast()
	return nil
}

// PostRecv implements hca.QP.
func (q *qp) PostRecv(id uint64, sge hca.SGE) error {
	frames := q.dev.net.opt.Frames(int(sge.Len))
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.state == initial:
		q.dev.net.note("receive posted before the queue pair was connected")
		return syscall.EINVAL
	case q.state != ready:
		q.cq.push(hca.WC{ID: id, Status: hca.Flushed})
		return nil
	case q.rqLen+frames > q.cfg.RecvWR:
		q.dev.net.note("receive queue of %d entries overran", q.cfg.RecvWR)
		return syscall.ENOMEM
	case q.dev.memory(sge.Addr, int(sge.Len), sge.LKey) == nil:
		q.dev.net.note("receive into memory that is not registered")
		return syscall.EINVAL
	}
	q.rqLen += frames
	q.rq = append(q.rq, receive{id, sge})
	return nil
}

// popRecv removes the next receive from the queue. The caller holds mu.
func (q *qp) popRecv() receive {
	r := q.rq[0]
	q.rq = append(q.rq[:0], q.rq[1:]...)
	q.rqLen -= q.dev.net.opt.Frames(int(r.sge.Len))
	return r
}

// Fail implements hca.QP.
func (q *qp) Fail() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fail()
	for q.busy {
		q.wake.Wait()
	}
	return nil
}

// fail flushes both queues. The caller holds mu.
func (q *qp) fail() {
	if q.state >= failed {
		return
	}
	q.state = failed
	for _, wr := range q.sq {
		q.cq.push(hca.WC{ID: wr.ID, Status: hca.Flushed})
	}
	for _, r := range q.rq {
		q.cq.push(hca.WC{ID: r.id, Status: hca.Flushed})
	}
	q.sq, q.rq, q.rqLen = nil, nil, 0
	q.wake.Broadcast()
}

// Close implements hca.QP.
func (q *qp) Close() error {
	q.mu.Lock()
	q.state = closed
	q.wake.Broadcast()
	q.mu.Unlock()
	<-q.exited
	q.dev.net.mu.Lock()
	delete(q.dev.net.qps, q.self)
	q.dev.net.mu.Unlock()
	q.dev.mu.Lock()
	q.dev.nqp--
	q.dev.mu.Unlock()
	q.dev.use("QP", -1)
	return nil
}
