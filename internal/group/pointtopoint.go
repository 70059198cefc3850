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

// pairs are the point-to-point messages of a group.
type pairs struct {
	group *Group
	links links
	list  []pair // by rank in the group
}

func (p *pairs) init(g *Group) {
	n := len(g.cfg.Ranks)
	p.group, p.list = g, make([]pair, n)
	p.links = links{group: g, channel: channelOf(g.cfg.ID, true), links: make([]fabric.Link, n)}
	for r := range p.list {
		peer := uint32(g.cfg.Ranks[r] + 1)
		p.list[r].out.now.peer, p.list[r].in.now.peer, p.list[r].in.now.in = peer, peer, true
	}
}

// release gives back what the messages used.
func (p *pairs) release() {
	p.links.close()
	for i := range p.list {
		p.list[i].release()
	}
}

// record returns what is recorded of the messages with each peer.
func (p *pairs) record(op func(e *recorder.Entry, o call) recorder.Operation) (list []recorder.Pair) {
	for r := range p.list {
		for i, t := range p.list[r].activities() {
			h := recorder.Pair{Peer: p.group.cfg.Ranks[r], Direction: recorder.To}
			if i == 1 {
				h.Direction = recorder.From
			}
			for _, e := range t.entries() {
				o := callOf(&e.Tag)
				o.peer, o.in = uint32(h.Peer+1), i == 1
				h.Operations = append(h.Operations, op(&e, o))
			}
			if h.Operations != nil {
				list = append(list, h)
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
func (p *pairs) transfer(r *Request, peer int, buf []byte, send bool) transfer {
	g := p.group
	h := &p.list[peer].in
	if send {
		h = &p.list[peer].out
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
	l, err := t.group.pairs.links.Link(t.group.ctx, t.peer)
	if err != nil {
		return err
	}
	t.group.pages.Used(t.buf)
	if t.send {
		return fabric.Send(t.group.ctx, l, &t.half.tag, t.buf)
	}
	return l.Recv(t.group.ctx, &t.half.tag, t.buf)
}

// check validates a point-to-point request. done means that there is nothing
// left to do: the rank exchanged with itself.
func (p *pairs) check(r *Request) (done bool, err error) {
	g := p.group
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

// do performs a point-to-point request.
func (p *pairs) do(ctx context.Context, r *Request) error {
	done, err := p.check(r)
	if done || err != nil {
		return err
	}
	switch r.Kind {
	case collective.Send:
		t := p.transfer(r, r.Root, r.Send, true)
		return t.run(ctx)
	case collective.Recv:
		t := p.transfer(r, r.Root, r.Recv, false)
		return t.run(ctx)
	}
	return sendRecv(ctx, p.transfer(r, r.Root, r.Send, true), p.transfer(r, r.From, r.Recv, false))
}

// sendRecv sends and receives at the same time. Both have to end before the
// buffers are free again, also when one fails: then the group has failed, and with
// it the other.
func sendRecv(ctx context.Context, out, in transfer) error {
	sent := make(chan error, 1)
	go func() { sent <- out.run(ctx) }()
	err := in.run(ctx)
	if e := <-sent; err == nil {
		err = e
	}
	return err
}

// start begins a point-to-point request, and calls finish when it is done. Its
// place in the order is that of the call.
func (p *pairs) start(ctx context.Context, r *Request, finish func(error)) {
	done, err := p.check(r)
	if done || err != nil {
		finish(err)
		return
	}
	switch r.Kind {
	case collective.Send:
		t := p.transfer(r, r.Root, r.Send, true)
		go func() { finish(t.run(ctx)) }()
	case collective.Recv:
		t := p.transfer(r, r.Root, r.Recv, false)
		go func() { finish(t.run(ctx)) }()
	default:
		out, in := p.transfer(r, r.Root, r.Send, true), p.transfer(r, r.From, r.Recv, false)
		go func() { finish(sendRecv(ctx, out, in)) }()
	}
}
