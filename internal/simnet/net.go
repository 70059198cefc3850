package simnet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/sysmem"
)

// Causes of failed connections.
var (
	ErrReset  = errors.New("connection reset by peer")
	ErrKilled = errors.New("the process was killed")
)

// A Net connects ranks.
type Net struct {
	size int

	mu    sync.Mutex
	ways  []way // by from*size + to
	pipes map[pipeKey]*pipe
	ended []error // by rank: why it has no more connections; nil if it has
}

// way is the state of one direction between two ranks, for all channels.
type way struct {
	cut     int // number of faults that hold it back
	delay   time.Duration
	corrupt bool // corrupt the next message
}

type pipeKey struct {
	from, to int
	ch       fabric.Channel
}

// New returns a network of n ranks.
func New(n int) *Net {
	return &Net{size: n, ways: make([]way, n*n), pipes: map[pipeKey]*pipe{}, ended: make([]error, n)}
}

// Fabrics returns the fabrics of all ranks.
func (n *Net) Fabrics() []fabric.Fabric {
	list := make([]fabric.Fabric, n.size)
	for r := range list {
		list[r] = &endpoint{net: n, rank: r, links: map[pipeKey]*link{}}
	}
	return list
}

// change applies a fault to every direction and pipe that it concerns, and wakes their
// receivers.
func (n *Net) change(concerns func(k pipeKey) bool, fault func(w *way), hit func(p *pipe)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if fault != nil {
		for from := range n.size {
			for to := range n.size {
				if from != to && concerns(pipeKey{from: from, to: to}) {
					fault(&n.ways[from*n.size+to])
				}
			}
		}
	}
	for k, p := range n.pipes {
		if concerns(k) {
			if hit != nil {
				hit(p)
			}
			p.wake()
		}
	}
}

func oneWay(from, to int) func(pipeKey) bool {
	return func(k pipeKey) bool { return k.from == from && k.to == to }
}

func between(a, b int) func(pipeKey) bool {
	return func(k pipeKey) bool { return k.from == a && k.to == b || k.from == b && k.to == a }
}

func of(rank int) func(pipeKey) bool {
	return func(k pipeKey) bool { return k.from == rank || k.to == rank }
}

// Cut delays messages from one rank to another until Heal.
func (n *Net) Cut(from, to int) { n.change(oneWay(from, to), func(w *way) { w.cut++ }, nil) }

// Heal ends a Cut.
func (n *Net) Heal(from, to int) { n.change(oneWay(from, to), func(w *way) { w.cut-- }, nil) }

// Isolate disconnects a rank from all others, like a pulled cable or a stopped process,
// until Rejoin.
func (n *Net) Isolate(rank int) { n.change(of(rank), func(w *way) { w.cut++ }, nil) }

// Rejoin ends an Isolate.
func (n *Net) Rejoin(rank int) { n.change(of(rank), func(w *way) { w.cut-- }, nil) }

// Delay sets the delay of a direction.
func (n *Net) Delay(from, to int, d time.Duration) {
	n.change(oneWay(from, to), func(w *way) { w.delay = d }, nil)
}

// Corrupt changes the tag of the next message of a direction.
func (n *Net) Corrupt(from, to int) {
	n.change(oneWay(from, to), func(w *way) { w.corrupt = true }, nil)
}

// Reset breaks all connections between two ranks. New ones can be made.
func (n *Net) Reset(a, b int) {
	n.change(between(a, b), nil, func(p *pipe) { p.fail(ErrReset) })
}

// Kill ends a rank: all its connections break, and it cannot make new ones.
func (n *Net) Kill(rank int) { n.end(rank, ErrKilled, true) }

// end breaks the connections of a rank. What it sent before still arrives, unless lose
// is set.
func (n *Net) end(rank int, why error, lose bool) {
	n.mu.Lock()
	if n.ended[rank] == nil {
		n.ended[rank] = why
	}
	n.mu.Unlock()
	n.change(of(rank), nil, func(p *pipe) {
		if lose {
			p.fail(ErrReset)
		} else {
			p.finish(ErrReset)
		}
	})
}

// pipe returns the one-way path between two ranks on a channel. The caller holds mu.
func (n *Net) pipe(k pipeKey) *pipe {
	p := n.pipes[k]
	if p == nil {
		p = &pipe{net: n, key: k, changed: make(chan struct{})}
		for _, r := range []int{k.from, k.to} {
			if n.ended[r] != nil {
				p.fail(ErrReset)
			}
		}
		n.pipes[k] = p
	}
	return p
}

var _ fabric.Fabric = (*endpoint)(nil)

// endpoint is a rank's fabric.Fabric. It does not count traffic.
type endpoint struct {
	sysmem.Pages
	net  *Net
	rank int

	mu     sync.Mutex
	links  map[pipeKey]*link
	closed bool
}

func (e *endpoint) Name() string { return "sim" }
func (e *endpoint) Rank() int    { return e.rank }
func (e *endpoint) Size() int    { return e.net.size }

// Link implements fabric.Fabric. It does not wait for the peer.
func (e *endpoint) Link(ctx context.Context, peer int, ch fabric.Channel) (fabric.Link, error) {
	if peer < 0 || peer >= e.net.size || peer == e.rank {
		return nil, fmt.Errorf("simnet: rank %d has no link to rank %d", e.rank, peer)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, fabric.ErrClosed
	}
	k := pipeKey{e.rank, peer, ch}
	l := e.links[k]
	if l == nil {
		e.net.mu.Lock()
		l = &link{peer: peer, out: e.net.pipe(k), in: e.net.pipe(pipeKey{peer, e.rank, ch})}
		e.net.mu.Unlock()
		e.links[k] = l
	}
	return l, nil
}

// Traffic implements fabric.Fabric.
func (e *endpoint) Traffic() fabric.Traffic { return fabric.Traffic{} }

// Close implements fabric.Fabric.
func (e *endpoint) Close() error {
	e.mu.Lock()
	e.closed = true
	links := e.links
	e.links = map[pipeKey]*link{}
	e.mu.Unlock()
	for _, l := range links {
		l.Close()
	}
	e.net.end(e.rank, fabric.ErrClosed, false)
	return nil
}
