package verbs

import (
	"fmt"
	"math/bits"
	"os"
	"syscall"

	"github.com/ebitengine/purego"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// pollBatch is the maximum number of completions per Poll.
const pollBatch = 32

// completionQueue is an hca.CQ.
type completionQueue struct {
	lib  *library
	ctx  *context
	cq   uintptr
	page page
	wc   *[pollBatch]workCompletion
	poll [3]uintptr // arguments, kept so that a call does not allocate
	arm  [2]uintptr
}

// NewCQ implements hca.Device.
func (d *Device) NewCQ(depth int, ch hca.Channel) (hca.CQ, error) {
	q := &completionQueue{lib: d.lib, ctx: at[context](d.ctx)}
	var err error
	if q.page, err = newPage(); err != nil {
		return nil, err
	}
	q.wc = carve[[pollBatch]workCompletion](&q.page)
	var chp uintptr
	if c, ok := ch.(*channel); ok {
		chp = c.ch
	}
	if q.cq, err = d.lib.createCQ.object(d.ctx, uintptr(depth), 0, chp, 0); err != nil {
		q.page.free()
		return nil, err
	}
	q.poll = [3]uintptr{q.cq, 0, ptr(q.wc)}
	q.arm = [2]uintptr{q.cq, 0}
	return q, nil
}

// Poll implements hca.CQ.
func (q *completionQueue) Poll(wcs []hca.WC) (int, error) {
	q.poll[1] = uintptr(min(len(wcs), pollBatch))
	r, _, _ := purego.SyscallN(q.ctx.pollCQ, q.poll[:]...)
	n := int(int32(r))
	if n < 0 {
		return 0, &Error{Verb: "ibv_poll_cq", Errno: syscall.Errno(-n)}
	}
	for i := range n {
		c := &q.wc[i]
		op := hca.Recv
		if c.opcode == wcRecvImm {
			op = hca.RecvImm
		}
		wcs[i] = hca.WC{ID: c.id, Status: hca.Status(c.status), Op: op, Len: c.byteLen, Imm: bits.ReverseBytes32(c.imm)}
	}
	return n, nil
}

// Arm implements hca.CQ.
func (q *completionQueue) Arm() error {
	if r, _, _ := purego.SyscallN(q.ctx.reqNotifyCQ, q.arm[:]...); int32(r) != 0 {
		return &Error{Verb: "ibv_req_notify_cq", Errno: syscall.Errno(int32(r))}
	}
	return nil
}

// Close implements hca.CQ.
func (q *completionQueue) Close() error {
	err := q.lib.destroyCQ.do(q.cq)
	q.page.free()
	return err
}

// channel is an hca.Channel. It waits for events in the runtime's poller, on a duplicate
// of the library's descriptor, so that Stop can interrupt.
type channel struct {
	lib  *library
	ch   uintptr
	file *os.File
	raw  syscall.RawConn
	page page
	cq   *uintptr // of the event
	arg  *uintptr
	get  [3]uintptr // arguments, kept so that a call does not allocate
	ack  [2]uintptr
	read func(fd uintptr) bool
	err  error // of the last read
}

// NewChannel implements hca.Device.
func (d *Device) NewChannel() (hca.Channel, error) {
	ch, err := d.lib.createCompChannel.object(d.ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", hca.ErrNoChannel, err)
	}
	c := &channel{lib: d.lib, ch: ch}
	if err := c.open(); err != nil {
		d.lib.destroyCompChannel.call(ch)
		return nil, fmt.Errorf("%w: %w", hca.ErrNoChannel, err)
	}
	return c, nil
}

func (c *channel) open() error {
	fd := int(at[compChannel](c.ch).fd)
	if err := syscall.SetNonblock(fd, true); err != nil {
		return err
	}
	dup, err := syscall.Dup(fd)
	if err != nil {
		return err
	}
	syscall.CloseOnExec(dup)
	c.file = os.NewFile(uintptr(dup), "completion channel")
	if c.raw, err = c.file.SyscallConn(); err != nil {
		c.file.Close()
		return err
	}
	if c.page, err = newPage(); err != nil {
		c.file.Close()
		return err
	}
	c.cq, c.arg = carve[uintptr](&c.page), carve[uintptr](&c.page)
	c.get = [3]uintptr{c.ch, ptr(c.cq), ptr(c.arg)}
	c.read = c.take
	return nil
}

// take reads and acknowledges one event. It reports false if there is none yet.
func (c *channel) take(uintptr) bool {
	r, errno := c.lib.getCQEvent.call(c.get[:]...)
	switch {
	case int32(r) == 0:
		c.ack = [2]uintptr{*c.cq, 1}
		c.lib.ackCQEvents.call(c.ack[:]...)
		c.err = nil
	case errno == syscall.EAGAIN:
		return false
	default:
		c.err = &Error{Verb: "ibv_get_cq_event", Errno: errno}
	}
	return true
}

// Wait implements hca.Channel.
func (c *channel) Wait() error {
	if err := c.raw.Read(c.read); err != nil {
		return err
	}
	return c.err
}

// Stop implements hca.Channel. When it returns, no call of Wait is under way.
func (c *channel) Stop() { c.file.Close() }

// Close implements hca.Channel.
func (c *channel) Close() error {
	err := c.lib.destroyCompChannel.do(c.ch)
	c.page.free()
	return err
}
