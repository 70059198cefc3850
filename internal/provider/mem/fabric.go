package mem

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"thundercollective/fabric"
)

// errGone is what a rank sees of a peer whose fabric or link was closed.
var errGone = errors.New("peer closed its end")

// New returns the fabrics of n ranks that reach each other in this process.
func New(n int) ([]fabric.Fabric, error) {
	if n < 1 {
		return nil, fmt.Errorf("mem: %d ranks: there must be at least one", n)
	}
	h := &hub{wires: map[wireKey]*wire{}, closed: make([]bool, n)}
	fabrics := make([]fabric.Fabric, n)
	for r := range fabrics {
		fabrics[r] = &endpoint{hub: h, rank: r, links: map[linkKey]*link{}}
	}
	return fabrics, nil
}

// hub holds the wires that the ranks share.
type hub struct {
	mu     sync.Mutex
	wires  map[wireKey]*wire
	closed []bool // by rank
}

type wireKey struct {
	from, to int
	ch       fabric.Channel
}

type linkKey struct {
	peer int
	ch   fabric.Channel
}

// wire returns the one-way path from one rank to another.
func (h *hub) wire(from, to int, ch fabric.Channel) *wire {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := wireKey{from, to, ch}
	w := h.wires[k]
	if w == nil {
		w = newWire()
		if h.closed[from] || h.closed[to] {
			w.cut()
		}
		h.wires[k] = w
	}
	return w
}

// endpoint is one rank's fabric.Fabric.
type endpoint struct {
	hub  *hub
	rank int

	mu     sync.Mutex
	links  map[linkKey]*link
	closed bool
}

func (e *endpoint) Name() string { return "mem" }
func (e *endpoint) Rank() int    { return e.rank }
func (e *endpoint) Size() int    { return len(e.hub.closed) }

// Link implements fabric.Fabric. It never waits: the wires exist on both sides.
func (e *endpoint) Link(ctx context.Context, peer int, ch fabric.Channel) (fabric.Link, error) {
	if peer < 0 || peer >= len(e.hub.closed) || peer == e.rank {
		return nil, fmt.Errorf("mem: rank %d has no link to rank %d (of %d ranks)", e.rank, peer, len(e.hub.closed))
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, fabric.ErrClosed
	}
	k := linkKey{peer, ch}
	l := e.links[k]
	if l == nil {
		l = &link{
			peer: peer,
			out:  e.hub.wire(e.rank, peer, ch),
			in:   e.hub.wire(peer, e.rank, ch),
			gone: make(chan struct{}),
		}
		e.links[k] = l
	}
	return l, nil
}

// Close implements fabric.Fabric. Peers see every wire of this rank go, also
// those they open later.
func (e *endpoint) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	links := e.links
	e.mu.Unlock()
	for _, l := range links {
		l.Close()
	}
	e.hub.mu.Lock()
	defer e.hub.mu.Unlock()
	e.hub.closed[e.rank] = true
	for k, w := range e.hub.wires {
		if k.from == e.rank || k.to == e.rank {
			w.cut()
		}
	}
	return nil
}

// Traffic implements fabric.Counter.
func (e *endpoint) Traffic() fabric.Traffic {
	e.mu.Lock()
	defer e.mu.Unlock()
	var t fabric.Traffic
	for _, l := range e.links {
		t = t.Add(l.Traffic())
	}
	return t
}
