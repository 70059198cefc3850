package rdmatest

import (
	"errors"
	"sync"

	"thundercollective/internal/provider/rdma/internal/hca"
)

var errChannelClosed = errors.New("completion channel closed")

// channel is an hca.Channel.
type channel struct {
	dev    *device
	events chan struct{}
	done   chan struct{}
}

// NewChannel implements hca.Device.
func (d *device) NewChannel() (hca.Channel, error) {
	if d.net.opt.NoEvents {
		return nil, hca.ErrNoChannel
	}
	d.use("channel", 1)
	return &channel{dev: d, events: make(chan struct{}, 1024), done: make(chan struct{})}, nil
}

func (c *channel) Wait() error {
	select {
	case <-c.done:
		return errChannelClosed
	default:
	}
	select {
	case <-c.events:
		return nil
	case <-c.done:
		return errChannelClosed
	}
}

func (c *channel) Stop() { close(c.done) }

func (c *channel) Close() error {
	c.dev.use("channel", -1)
	return nil
}

// cq is an hca.CQ.
type cq struct {
	dev   *device
	depth int
	ch    *channel

	mu    sync.Mutex
	queue []hca.WC
	armed bool
}

// NewCQ implements hca.Device.
func (d *device) NewCQ(depth int, ch hca.Channel) (hca.CQ, error) {
	q := &cq{dev: d, depth: depth}
	if c, ok := ch.(*channel); ok {
		q.ch = c
	}
	d.use("CQ", 1)
	return q, nil
}

// push adds a completion.
func (q *cq) push(wc hca.WC) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) >= q.depth {
		q.dev.net.note("completion queue of %d entries overran", q.depth)
		return
	}
	q.queue = append(q.queue, wc)
	if q.armed {
		q.armed = false
		q.ch.events <- struct{}{}
	}
}

func (q *cq) Poll(wc []hca.WC) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := copy(wc, q.queue)
	q.queue = append(q.queue[:0], q.queue[n:]...)
	return n, nil
}

func (q *cq) Arm() error {
	if q.ch == nil {
		return hca.ErrNoChannel
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.armed = true
	return nil
}

func (q *cq) Close() error {
	q.dev.use("CQ", -1)
	return nil
}
