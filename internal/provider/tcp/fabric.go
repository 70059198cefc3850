package tcp

import (
	"context"
	"fmt"
	"sync"

	"thundercollective/fabric"
)

// Fabric is one rank's fabric.Fabric over TCP.
type Fabric struct {
	cfg Config
	ln  *Listener

	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // accept loops, handshakes, dials

	hubs   hubs   // what links of one stream share
	door   door   // connections that have not proved themselves yet
	relays relays // connections that lead through this rank

	mu     sync.Mutex
	links  map[linkKey]*pending
	closed bool
}

type linkKey struct {
	peer int
	ch   fabric.Channel
}

// New starts accepting peers on ln, which it takes over, also when it fails.
func New(ln *Listener, cfg Config) (*Fabric, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		ln.Close()
		return nil, err
	}
	f := &Fabric{cfg: cfg, ln: ln, links: map[linkKey]*pending{}}
	f.ctx, f.cancel = context.WithCancelCause(context.Background())
	for _, l := range ln.lns {
		f.wg.Go(func() { f.accept(l) })
	}
	return f, nil
}

// Name implements fabric.Fabric.
func (f *Fabric) Name() string { return "tcp" }

// Rank implements fabric.Fabric.
func (f *Fabric) Rank() int { return f.cfg.Rank }

// Size implements fabric.Fabric.
func (f *Fabric) Size() int { return len(f.cfg.Peers) }

// Link implements fabric.Fabric. The higher of the two ranks dials.
func (f *Fabric) Link(ctx context.Context, peer int, ch fabric.Channel) (fabric.Link, error) {
	if peer < 0 || peer >= f.Size() || peer == f.cfg.Rank {
		return nil, fmt.Errorf("tcp: rank %d has no link to rank %d (of %d ranks)", f.cfg.Rank, peer, f.Size())
	}
	p, first, err := f.pending(linkKey{peer, ch})
	if err != nil {
		return nil, err
	}
	if first && peer < f.cfg.Rank {
		f.wg.Go(func() { f.dial(ctx, p) })
		<-p.ready // dial ends with ctx, and knows best why
		return p.result()
	}
	select {
	case <-p.ready:
		return p.result()
	case <-ctx.Done():
		return nil, fmt.Errorf("tcp: waiting for rank %d to connect%s: %w", peer, f.door.troubles(), context.Cause(ctx))
	case <-f.ctx.Done():
		return nil, fabric.ErrClosed
	}
}

// pending returns the place where a link is put together. first is true for
// the one caller that has to see to the dialling, if dialling is this rank's part.
func (f *Fabric) pending(k linkKey) (p *pending, first bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, false, fabric.ErrClosed
	}
	p = f.links[k]
	if p == nil || p.failed() {
		p = &pending{key: k, ready: make(chan struct{})}
		f.links[k] = p
		first = true
	}
	return p, first, nil
}

// Close implements fabric.Fabric.
func (f *Fabric) Close() error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil
	}
	f.closed = true
	links := f.links
	f.mu.Unlock()

	f.cancel(fabric.ErrClosed)
	err := f.ln.Close()
	f.door.shut()
	for _, p := range links { // nobody adds to them any more
		p.close()
	}
	// The ranks for which this one passes on are most likely closing too, and what
	// they said last is on its way.
	f.relays.drain()
	f.relays.close()
	f.wg.Wait()
	return err
}

// Traffic implements fabric.Counter: the sum over all links.
func (f *Fabric) Traffic() fabric.Traffic {
	f.mu.Lock()
	defer f.mu.Unlock()
	var t fabric.Traffic
	for _, p := range f.links {
		if l := p.get(); l != nil {
			t = t.Add(l.Traffic())
		}
	}
	return t
}
