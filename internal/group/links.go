package group

import (
	"context"
	"sync"

	"thundercollective/fabric"
)

// links are the links of one channel of a group, opened on first use.
type links struct {
	group   *Group
	channel fabric.Channel

	mu     sync.Mutex
	links  []fabric.Link // by rank in the group
	closed bool
}

// Link returns the link to a rank of the group. It makes links the
// collective.Links of an executor.
func (p *links) Link(ctx context.Context, peer int) (fabric.Link, error) {
	p.mu.Lock()
	l := p.links[peer]
	p.mu.Unlock()
	if l != nil {
		return l, nil
	}
	world := p.group.cfg.Ranks[peer]
	l, err := p.group.cfg.Session.Link(ctx, world, p.channel)
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
func (p *links) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, l := range p.links {
		if l != nil {
			l.Close()
		}
	}
}

// failed ends the group, and with it what is still blocked in it, as soon as one part of
// an operation fails.
func (p *links) failed(err error) {
	p.group.explain(err, p.group.current.operation())
}

// addTraffic adds what crossed the links to sums, by rank of the job.
func (p *links) addTraffic(sums []fabric.Traffic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r, l := range p.links {
		if l != nil {
			world := p.group.cfg.Ranks[r]
			sums[world] = sums[world].Add(l.Traffic())
		}
	}
}
