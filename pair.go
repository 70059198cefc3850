package thunder

import (
	"context"
	"fmt"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/recorder"
)

// A pair is the point-to-point traffic with one peer, which has an order of its own in
// each direction.
type pair struct{ out, in half }

// half is one direction.
type half struct {
	turn queue
	now  activity
	tag  fabric.Tag // of the message under way
}

// exchanges returns what is recorded of the point-to-point messages with each peer.
func (c *Comm) exchanges(op func(e *recorder.Entry, o call) recorder.Operation) (list []recorder.Pair) {
	for r := range c.pairs {
		for i, t := range c.pairs[r].activities() {
			p := recorder.Pair{Peer: c.ranks[r], Direction: recorder.To}
			if i == 1 {
				p.Direction = recorder.From
			}
			for _, e := range t.entries() {
				o := callOf(&e.Tag)
				o.peer, o.in = uint32(p.Peer+1), i == 1
				p.Operations = append(p.Operations, op(&e, o))
			}
			if p.Operations != nil {
				list = append(list, p)
			}
		}
	}
	return list
}

func (p *pair) activities() [2]*activity { return [2]*activity{&p.out.now, &p.in.now} }

func (p *pair) release() {
	p.out.now.release()
	p.in.now.release()
}

// A transfer is one message to or from a peer, with its place in the order.
type transfer struct {
	comm *Comm
	peer int
	half *half
	buf  []byte
	send bool
	call call
	wait <-chan struct{}
}

// transfer gives a message its place.
func (c *Comm) transfer(r *Request, peer int, buf []byte, send bool) transfer {
	h := &c.pairs[peer].in
	if send {
		h = &c.pairs[peer].out
	}
	t := transfer{comm: c, peer: peer, half: h, buf: buf, send: send, call: call{
		generation: c.job.generation, group: c.id, kind: KindSend,
		dtype: r.DType, count: uint64(len(buf) / r.DType.Size()),
		peer: uint32(c.ranks[peer] + 1), in: !send,
	}}
	t.call.seq, t.wait = h.turn.enter()
	return t
}

// run moves the message when its turn has come.
func (t *transfer) run(ctx context.Context) error {
	c := t.comm
	if t.wait != nil {
		<-t.wait
	}
	defer t.half.turn.leave()
	if err := c.Err(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return c.giveUp(ctx, t.call)
	}
	now := c.job.clock.Now()
	t.call.encode(&t.half.tag)
	t.half.now.begin(c, ctx, t.call.seq, &t.half.tag, now)
	err := t.move()
	took := c.job.clock.Now() - now
	t.half.now.end(t.call.seq, took, err)
	t.note(c.job.clock.Span(took), err)
	if err != nil {
		return c.explain(err, t.call)
	}
	return nil
}

// note counts the message, as a send or a receive.
func (t *transfer) note(took time.Duration, err error) {
	a := t.call
	if !t.send {
		a.kind = KindRecv
	}
	t.comm.job.meters.notePair(&a, took, err)
}

func (t *transfer) move() error {
	l, err := t.comm.direct.Link(t.comm.ctx, t.peer)
	if err != nil {
		return err
	}
	t.comm.pages.Used(t.buf)
	if t.send {
		return l.Send(t.comm.ctx, &t.half.tag, t.buf)
	}
	return l.Recv(t.comm.ctx, &t.half.tag, t.buf)
}

// checkPairs validates a point-to-point request. done means that there is nothing
// left to do: the rank exchanged with itself.
func (c *Comm) checkPairs(r *Request) (done bool, err error) {
	if _, err := r.check(c.rank, len(c.ranks)); err != nil {
		return false, fmt.Errorf("thunder: %w", err)
	}
	self := r.Root == c.rank
	if r.Kind == KindSendRecv && self && r.From == c.rank {
		if len(r.Send) != len(r.Recv) {
			return false, fmt.Errorf("thunder: %v with itself: rank %d sends %d bytes and receives %d", r.Kind, c.rank, len(r.Send), len(r.Recv))
		}
		copy(r.Recv, r.Send)
		return true, nil
	}
	if self || (r.Kind == KindSendRecv && r.From == c.rank) {
		return false, fmt.Errorf("thunder: %v: rank %d cannot exchange with itself; use SendRecv with itself at both ends", r.Kind, c.rank)
	}
	return false, c.Err()
}

// exchange performs a point-to-point request.
func (c *Comm) exchange(ctx context.Context, r *Request) error {
	done, err := c.checkPairs(r)
	if done || err != nil {
		return err
	}
	switch r.Kind {
	case KindSend:
		t := c.transfer(r, r.Root, r.Send, true)
		return t.run(ctx)
	case KindRecv:
		t := c.transfer(r, r.Root, r.Recv, false)
		return t.run(ctx)
	}
	return c.sendRecv(ctx, c.transfer(r, r.Root, r.Send, true), c.transfer(r, r.From, r.Recv, false))
}

// sendRecv sends and receives at the same time. Both have to end before the
// buffers are free again, also when one fails: then the group has failed, and with
// it the other.
func (c *Comm) sendRecv(ctx context.Context, out, in transfer) error {
	sent := make(chan error, 1)
	go func() { sent <- out.run(ctx) }()
	err := in.run(ctx)
	if e := <-sent; err == nil {
		err = e
	}
	return err
}

// startExchange begins a point-to-point request. Its place in the order is that of
// the call.
func (c *Comm) startExchange(ctx context.Context, r *Request, w *Work) {
	done, err := c.checkPairs(r)
	if done || err != nil {
		w.finish(err)
		return
	}
	switch r.Kind {
	case KindSend:
		t := c.transfer(r, r.Root, r.Send, true)
		go func() { w.finish(t.run(ctx)) }()
	case KindRecv:
		t := c.transfer(r, r.Root, r.Recv, false)
		go func() { w.finish(t.run(ctx)) }()
	default:
		out, in := c.transfer(r, r.Root, r.Send, true), c.transfer(r, r.From, r.Recv, false)
		go func() { w.finish(c.sendRecv(ctx, out, in)) }()
	}
}
