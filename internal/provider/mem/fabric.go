package mem

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"thundercollective/fabric"
	"thundercollective/internal/linktable"
	"thundercollective/internal/sysmem"
)

// errGone is what a rank sees of a peer whose fabric or link was closed.
var errGone = errors.New("peer closed its end")

// A Config says how ranks of one process are made. The zero Config is the usual one.
type Config struct {
	// NoHugePages keeps Alloc from asking the system for huge pages.
	NoHugePages bool
}

// New returns the fabrics of n ranks that reach each other in this process.
func New(n int) ([]fabric.Fabric, error) { return Config{}.New(n) }

// New returns the fabrics of n ranks that reach each other in this process.
func (c Config) New(n int) ([]fabric.Fabric, error) {
	if n < 1 {
		return nil, fmt.Errorf("mem: %d ranks: there must be at least one", n)
	}
	p := &process{wires: map[wireKey]*wire{}, closed: make([]bool, n)}
	fabrics := make([]fabric.Fabric, n)
	for r := range fabrics {
		fabrics[r] = &rankFabric{Pages: sysmem.Pages{NoHugePages: c.NoHugePages}, process: p, rank: r}
	}
	return fabrics, nil
}

// A process holds the wires between all its ranks.
type process struct {
	mu     sync.Mutex
	wires  map[wireKey]*wire
	closed []bool // by rank
}

type wireKey struct {
	from, to int
	ch       fabric.Channel
}

// wire returns the one-way path from one rank to another.
func (p *process) wire(from, to int, ch fabric.Channel) *wire {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := wireKey{from, to, ch}
	w := p.wires[k]
	if w == nil {
		w = newWire()
		if p.closed[from] || p.closed[to] {
			w.cut()
		}
		p.wires[k] = w
	}
	return w
}

// leave cuts every wire of a rank, also those that are made later.
func (p *process) leave(rank int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed[rank] = true
	for k, w := range p.wires {
		if k.from == rank || k.to == rank {
			w.cut()
		}
	}
}

var _ fabric.Fabric = (*rankFabric)(nil)

// rankFabric is one rank's fabric.Fabric.
type rankFabric struct {
	sysmem.Pages
	process *process
	rank    int
	links   linktable.Table[*link]
}

func (f *rankFabric) Name() string { return "mem" }
func (f *rankFabric) Rank() int    { return f.rank }
func (f *rankFabric) Size() int    { return len(f.process.closed) }

// Link implements fabric.Fabric. It never waits: the wires exist on both sides.
func (f *rankFabric) Link(ctx context.Context, peer int, ch fabric.Channel) (fabric.Link, error) {
	if err := linktable.CheckPeer("mem", f.rank, peer, f.Size()); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	l, _, err := f.links.Get(linktable.Key{Peer: peer, Channel: ch}, nil, func() *link {
		return newLink(peer, f.process.wire(f.rank, peer, ch), f.process.wire(peer, f.rank, ch))
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Close implements fabric.Fabric.
func (f *rankFabric) Close() error {
	if f.links.Close() {
		for _, l := range f.links.All() {
			l.Close()
		}
		f.process.leave(f.rank)
	}
	return nil
}

// Traffic implements fabric.Fabric.
func (f *rankFabric) Traffic() (t fabric.Traffic) {
	for _, l := range f.links.All() {
		t = t.Add(l.Traffic())
	}
	return t
}
