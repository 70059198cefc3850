package group

import (
	"context"
	"fmt"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
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

// recordPairs returns what is recorded of the point-to-point messages with each peer.
func (g *Group) recordPairs(op func(e *recorder.Entry, o call) recorder.Operation) (list []recorder.Pair) {
	for r := range g.pairs {
		for i, t := range g.pairs[r].activities() {
			p := recorder.Pair{Peer: g.cfg.Ranks[r], Direction: recorder.To}
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
	group *Group
	peer  int
	half  *half
	buf   []byte
	send  bool
	call  call
	wait  <-chan struct{}
}

// transfer gives a message its place.
func (g *Group) transfer(r *Request, peer int, buf []byte, send bool) transfer {
	h := &g.pairs[peer].in
	if send {
		h = &g.pairs[peer].out
	}
	t := transfer{group: g, peer: peer, half: h, buf: buf, send: send, call: call{
		generation: g.cfg.Generation, group: g.cfg.ID, kind: collective.Send,
		dtype: r.DType, count: uint64(len(buf) / r.DType.Size()),
		peer: uint32(g.cfg.Ranks[peer] + 1), in: !send,
	}}
	t.call.seq, t.wait = h.turn.enter()
	return t
}

// run moves the message when its turn has come.
func (t *transfer) run(ctx context.Context) error {
	g := t.group
	if t.wait != nil {
		<-t.wait
	}
	defer t.half.turn.leave()
	if err := g.Err(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return g.giveUp(ctx, t.call)
	}
	now := g.cfg.Clock.Now()
	t.call.encode(&t.half.tag)
	t.half.now.begin(g, ctx, t.call.seq, &t.half.tag, now)
	err := t.move()
	took := g.cfg.Clock.Now() - now
	t.half.now.end(t.call.seq, took, err)
	t.note(g.cfg.Clock.Span(took), err)
	if err != nil {
		return g.explain(err, t.call)
	}
	return nil
}

// note counts the message, as a send or a receive.
func (t *transfer) note(took time.Duration, err error) {
	kind := collective.Send
	if !t.send {
		kind = collective.Recv
	}
	t.group.cfg.Meters.NotePair(kind, t.call.bytes(), took, err)
}

func (t *transfer) move() error {
	l, err := t.group.direct.Link(t.group.ctx, t.peer)
	if err != nil {
		return err
	}
	t.group.pages.Used(t.buf)
	if t.send {
		return l.Send(t.group.ctx, &t.half.tag, t.buf)
	}
	return l.Recv(t.group.ctx, &t.half.tag, t.buf)
}

// checkPairs validates a point-to-point request. done means that there is nothing
// left to do: the rank exchanged with itself.
func (g *Group) checkPairs(r *Request) (done bool, err error) {
	if _, err := r.check(g.cfg.Rank, len(g.cfg.Ranks)); err != nil {
		return false, fmt.Errorf("thunder: %w", err)
	}
	self := r.Root == g.cfg.Rank
	if r.Kind == collective.SendRecv && self && r.From == g.cfg.Rank {
		if len(r.Send) != len(r.Recv) {
			return false, fmt.Errorf("thunder: %v with itself: rank %d sends %d bytes and receives %d", r.Kind, g.cfg.Rank, len(r.Send), len(r.Recv))
		}
		copy(r.Recv, r.Send)
		return true, nil
	}
	if self || (r.Kind == collective.SendRecv && r.From == g.cfg.Rank) {
		return false, fmt.Errorf("thunder: %v: rank %d cannot exchange with itself; use SendRecv with itself at both ends", r.Kind, g.cfg.Rank)
	}
	return false, g.Err()
}

// exchange performs a point-to-point request.
func (g *Group) exchange(ctx context.Context, r *Request) error {
	done, err := g.checkPairs(r)
	if done || err != nil {
		return err
	}
	switch r.Kind {
	case collective.Send:
		t := g.transfer(r, r.Root, r.Send, true)
		return t.run(ctx)
	case collective.Recv:
		t := g.transfer(r, r.Root, r.Recv, false)
		return t.run(ctx)
	}
	return g.sendRecv(ctx, g.transfer(r, r.Root, r.Send, true), g.transfer(r, r.From, r.Recv, false))
}

// sendRecv sends and receives at the same time. Both have to end before the
// buffers are free again, also when one fails: then the group has failed, and with
// it the other.
func (g *Group) sendRecv(ctx context.Context, out, in transfer) error {
	sent := make(chan error, 1)
	go func() { sent <- out.run(ctx) }()
	err := in.run(ctx)
	if e := <-sent; err == nil {
		err = e
	}
	return err
}

// startExchange begins a point-to-point request, and calls finish when it is done. Its
// place in the order is that of the call.
func (g *Group) startExchange(ctx context.Context, r *Request, finish func(error)) {
	done, err := g.checkPairs(r)
	if done || err != nil {
		finish(err)
		return
	}
	switch r.Kind {
	case collective.Send:
		t := g.transfer(r, r.Root, r.Send, true)
		go func() { finish(t.run(ctx)) }()
	case collective.Recv:
		t := g.transfer(r, r.Root, r.Recv, false)
		go func() { finish(t.run(ctx)) }()
	default:
		out, in := g.transfer(r, r.Root, r.Send, true), g.transfer(r, r.From, r.Recv, false)
		go func() { finish(g.sendRecv(ctx, out, in)) }()
	}
}
