package thunder

import (
	"context"
	"sync"

	"thundercollective/fabric"
)

// paths are the links of one channel of a group, opened on first use.
type paths struct {
	comm    *Comm
	channel fabric.Channel

	mu     sync.Mutex
	links  []fabric.Link // by rank in the group
	closed bool
}

// Link returns the link to a rank of the group. It makes paths a
// collective.Peers.
func (p *paths) Link(ctx context.Context, peer int) (fabric.Link, error) {
	p.mu.Lock()
	l := p.links[peer]
	p.mu.Unlock()
	if l != nil {
		return l, nil
	}
	world := p.comm.ranks[peer]
	if err := p.comm.job.gone(world); err != nil {
		return nil, &fabric.LostError{Peer: world, Err: err}
	}
	l, err := p.comm.job.fab.Link(ctx, world, p.channel)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		l.Close()
		return nil, fabric.ErrClosed
	}
	p.links[peer] = l
	return l, nil
}

// close breaks all links of the channel.
func (p *paths) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, l := range p.links {
		if l != nil {
			l.Close()
		}
	}
}

// Failed makes paths a collective.Failer: it ends the group, and with it what is
// still blocked in it, as soon as one part of an operation fails.
func (p *paths) Failed(err error) {
	p.comm.explain(err, p.comm.current.operation())
}
