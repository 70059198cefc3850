package tcp

import (
	"context"
	"fmt"
	"sync"

	"thundercollective/fabric"
	"thundercollective/internal/linktable"
	"thundercollective/internal/sysmem"
)

var _ fabric.Fabric = (*Fabric)(nil)

// Fabric is one rank's fabric.Fabric over TCP. Its memory is ordinary: sockets copy.
type Fabric struct {
	sysmem.Pages
	cfg Config
	ln  *Listener

	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // accept loops, handshakes, dials

	backlogs  backlogs  // what links of one stream share
	admission admission // of connections that have not proved themselves yet
	relays    relays    // connections that lead through this rank

	links linktable.Table[*pending]
}

// New starts accepting peers on ln, which it takes over, also when it fails.
func New(ln *Listener, cfg Config) (*Fabric, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		ln.Close()
		return nil, err
	}
	f := &Fabric{Pages: sysmem.Pages{NoHugePages: cfg.NoHugePages}, cfg: cfg, ln: ln}
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
	if err := linktable.CheckPeer("tcp", f.cfg.Rank, peer, f.Size()); err != nil {
		return nil, err
	}
	p, first, err := f.pending(linktable.Key{Peer: peer, Channel: ch})
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
		return nil, fmt.Errorf("tcp: waiting for rank %d to connect%s: %w", peer, f.admission.troubles(), context.Cause(ctx))
	case <-f.ctx.Done():
		return nil, fabric.ErrClosed
	}
}

// pending returns the place where a link is put together. first is true for
// the one caller that has to see to the dialling, if dialling is this rank's part.
func (f *Fabric) pending(k linktable.Key) (p *pending, first bool, err error) {
	return f.links.Get(k, (*pending).failed, func() *pending { return &pending{key: k, ready: make(chan struct{})} })
}

// Close implements fabric.Fabric.
func (f *Fabric) Close() error {
	if !f.links.Close() {
		return nil
	}
	f.cancel(fabric.ErrClosed)
	err := f.ln.Close()
	f.admission.shut()
	for _, p := range f.links.All() { // nobody adds to them any more
		p.close()
	}
	// The ranks for which this one passes on are most likely closing too, and what
	// they said last is on its way.
	f.relays.drain()
	f.relays.close()
	f.wg.Wait()
	return err
}

// Traffic implements fabric.Fabric.
func (f *Fabric) Traffic() (t fabric.Traffic) {
	for _, p := range f.links.All() {
		if l := p.get(); l != nil {
			t = t.Add(l.Traffic())
		}
	}
	return t
}
