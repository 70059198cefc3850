package rails

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"thundercollective/fabric"
	"thundercollective/internal/linktable"
)

var _ fabric.Fabric = (*Fabric)(nil)

// Fabric is one rank's fabric.Fabric over several rails to some of its peers.
type Fabric struct {
	cfg   Config
	rails [][]*rail              // by peer
	only  []atomic.Pointer[rail] // by peer: the rail that Only has selected; nil for all

	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup

	links linktable.Table[*link]
}

// New returns a fabric of rails. It takes over cfg.Base, which it closes if it fails.
func New(cfg Config) (*Fabric, error) {
	full, err := cfg.withDefaults()
	if err != nil {
		if cfg.Base != nil {
			cfg.Base.Close()
		}
		return nil, err
	}
	f := &Fabric{cfg: full, rails: make([][]*rail, len(cfg.Rails)), only: make([]atomic.Pointer[rail], len(cfg.Rails))}
	f.ctx, f.cancel = context.WithCancelCause(context.Background())
	for peer := range full.Rails {
		for i := range full.Rails[peer] {
			f.rails[peer] = append(f.rails[peer], &rail{
				peer: peer, host: f.host(peer), Rail: &full.Rails[peer][i], log: full.Logger,
			})
		}
	}
	f.wg.Go(f.monitor)
	return f, nil
}

// Name implements fabric.Fabric.
func (f *Fabric) Name() string { return f.cfg.Base.Name() }

// Rank implements fabric.Fabric.
func (f *Fabric) Rank() int { return f.cfg.Base.Rank() }

// Size implements fabric.Fabric.
func (f *Fabric) Size() int { return f.cfg.Base.Size() }

// Rails returns the state of the rails to all peers that have more than one.
func (f *Fabric) Rails() []State {
	var list []State
	links := f.links.All()
	for _, rails := range f.rails {
		if len(rails) < 2 {
			continue
		}
		for _, r := range rails {
			st := r.state()
			var inUse bool
			st.Streams, inUse = r.alive(links)
			st.Up = st.Up && (st.Streams > 0 || !inUse)
			list = append(list, st)
		}
	}
	return list
}

// alive returns the largest number of streams that a link has on the rail, and whether
// any link to the peer is in use: the rail may never have come up.
func (r *rail) alive(links []*link) (most int, inUse bool) {
	for _, l := range links {
		l.mu.Lock()
		if l.peer == r.peer && l.opener.isUp && !l.opener.done {
			inUse = true
			n := 0
			for _, s := range l.streams.list {
				if s != nil && s.rail == r {
					n++
				}
			}
			most = max(most, n)
		}
		l.mu.Unlock()
	}
	return most, inUse
}

// host names the machine of a rank.
func (f *Fabric) host(rank int) string {
	if rank < len(f.cfg.Hosts) {
		return f.cfg.Hosts[rank]
	}
	return fmt.Sprintf("rank %d", rank)
}

// describe lists the peer's addresses on the rails to it.
func (f *Fabric) describe(peer int) string {
	var list []string
	for i := range f.cfg.Rails[peer] {
		list = append(list, f.cfg.Rails[peer][i].Far)
	}
	return strings.Join(list, ", ")
}

// Link implements fabric.Fabric.
func (f *Fabric) Link(ctx context.Context, peer int, ch fabric.Channel) (fabric.Link, error) {
	if peer < 0 || peer >= f.Size() || peer == f.Rank() || len(f.cfg.Rails[peer]) < 2 {
		return f.cfg.Base.Link(ctx, peer, ch)
	}
	l, first, err := f.link(linktable.Key{Peer: peer, Channel: ch})
	if err != nil {
		return nil, err
	}
	if first {
		l.opener.keepAll()
	}
	if l.dials() {
		if err := l.opener.waitForRails(ctx); err != nil {
			return nil, err
		}
		return l, nil
	}
	select {
	case <-l.opener.ready:
		if err := l.opener.startError(); err != nil {
			return nil, err
		}
		return l, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("rails: waiting for rank %d to connect: %w", peer, context.Cause(ctx))
	case <-f.ctx.Done():
		return nil, fabric.ErrClosed
	}
}

// link returns the link to a peer on a channel. first is true for the one caller
// that has to start opening its streams.
func (f *Fabric) link(k linktable.Key) (l *link, first bool, err error) {
	if l, err = f.entry(k); err != nil {
		return nil, false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	first = !l.opener.wanted
	l.opener.wanted = true
	return l, first, nil
}

// entry returns the link to a peer on a channel, a new one if it could not be opened.
func (f *Fabric) entry(k linktable.Key) (*link, error) {
	l, _, err := f.links.Get(k, func(l *link) bool { return l.opener.failed() }, func() *link { return newLink(f, k.Peer, k.Channel) })
	return l, err
}

// Alloc implements fabric.Fabric: memory is the base's business.
func (f *Fabric) Alloc(n int) ([]byte, error) { return f.cfg.Base.Alloc(n) }

// Free implements fabric.Fabric.
func (f *Fabric) Free(b []byte) error { return f.cfg.Base.Free(b) }

// Register implements fabric.Fabric.
func (f *Fabric) Register(b []byte) error { return f.cfg.Base.Register(b) }

// Unregister implements fabric.Fabric.
func (f *Fabric) Unregister(b []byte) error { return f.cfg.Base.Unregister(b) }

// Memory implements fabric.Fabric.
func (f *Fabric) Memory(ctx context.Context, ch fabric.Channel, ranks []int) (fabric.Memory, error) {
	return f.cfg.Base.Memory(ctx, ch, ranks)
}

// Close implements fabric.Fabric.
func (f *Fabric) Close() error {
	if !f.links.Close() {
		return nil
	}
	for _, l := range f.links.All() {
		l.opener.abandon(fabric.ErrClosed)
		l.Close()
	}
	f.cancel(fabric.ErrClosed)
	f.wg.Wait()
	return f.cfg.Base.Close()
}

// Traffic implements fabric.Fabric.
func (f *Fabric) Traffic() fabric.Traffic {
	t := f.cfg.Base.Traffic()
	for _, l := range f.links.All() {
		t = t.Add(l.Traffic())
	}
	return t
}
