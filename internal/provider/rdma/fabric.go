package rdma

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"thundercollective/fabric"
	"thundercollective/internal/linktable"
)

var errClosed = fabric.ErrClosed

var _ fabric.Fabric = (*Fabric)(nil)

// Fabric is one rank's fabric.Fabric over RDMA.
type Fabric struct {
	cfg  Config
	boot fabric.Fabric

	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	inventory inventory
	memory    memory
	books     ledger

	links  linktable.Table[*entry]
	making sync.WaitGroup

	mu    sync.Mutex   // guards what follows, changes of memory, and the end of ctx
	paths map[int]Path // by peer
	fault error        // the first error of releasing something
}

// entry is a link, or one that is being set up.
type entry struct {
	ready chan struct{} // closed when link or err is set
	link  fabric.Link
	err   error
}

// New returns a fabric over RDMA between the ranks of boot. Links are set up over boot,
// on provider channels. boot also carries Control and, if Config.Fallback allows it,
// pairs without RDMA. The fabric owns boot and closes it, unless New fails.
func New(ctx context.Context, boot fabric.Fabric, cfg Config) (*Fabric, error) {
	cfg, err := cfg.withDefaults(boot.Size())
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	f := &Fabric{cfg: cfg, boot: boot, paths: map[int]Path{}}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.inventory = inventory{cfg: &f.cfg, books: &f.books, rank: boot.Rank()}
	f.memory = memory{cfg: &f.cfg, books: &f.books, inventory: &f.inventory}
	if err := f.inventory.open(boot.Size()); err != nil {
		f.cancel()
		return nil, errors.Join(fmt.Errorf("rdma: %w", err), f.inventory.close())
	}
	return f, nil
}

// Name implements fabric.Fabric. It is "rdma+tcp" if some pairs may have no RDMA, and
// "tcp" if none has it.
func (f *Fabric) Name() string {
	switch {
	case !f.cfg.Fallback:
		return "rdma"
	case len(f.inventory.devices) == 0:
		return f.boot.Name()
	}
	return "rdma+" + f.boot.Name()
}

// Rank implements fabric.Fabric.
func (f *Fabric) Rank() int { return f.boot.Rank() }

// Size implements fabric.Fabric.
func (f *Fabric) Size() int { return f.boot.Size() }

// Link implements fabric.Fabric.
func (f *Fabric) Link(ctx context.Context, peer int, ch fabric.Channel) (fabric.Link, error) {
	if err := linktable.CheckPeer("rdma", f.Rank(), peer, f.Size()); err != nil {
		return nil, err
	}
	switch {
	case ch&setupChannels == setupChannels, ch&fabric.ProviderChannels == 0 && ch&setupChannels != 0:
		return nil, fmt.Errorf("rdma: channel %#x is reserved", uint32(ch))
	case ch == fabric.Control || ch >= fabric.ProviderChannels:
		return f.boot.Link(ctx, peer, ch)
	}
	e, first, err := f.links.Get(linktable.Key{Peer: peer, Channel: ch}, (*entry).failed, func() *entry {
		f.making.Add(1)
		return &entry{ready: make(chan struct{})}
	})
	if err != nil {
		return nil, err
	}
	if first {
		f.make(ctx, peer, ch, e)
	}
	select {
	case <-e.ready:
		return e.link, e.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-f.ctx.Done():
		return nil, errClosed
	}
}

// failed reports whether the link could not be set up.
func (e *entry) failed() bool {
	select {
	case <-e.ready:
		return e.err != nil
	default:
		return false
	}
}

// make makes a link, unless ctx ends or the fabric is closed first. After a failure it
// may be tried again.
func (f *Fabric) make(ctx context.Context, peer int, ch fabric.Channel, e *entry) {
	defer f.making.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(f.ctx, func() { cancel(errClosed) })()
	e.link, e.err = f.establish(ctx, peer, ch)
	close(e.ready)
}

// Close implements fabric.Fabric.
func (f *Fabric) Close() error {
	if !f.links.Close() {
		return nil
	}
	f.mu.Lock()
	f.cancel()
	f.mu.Unlock()
	f.making.Wait()
	links := f.links.All()
	for _, e := range links {
		if e.link != nil {
			e.link.Close()
		}
	}
	for _, e := range links {
		if l, ok := e.link.(*Link); ok {
			<-l.ended
		}
	}
	f.note(f.memory.close())
	f.note(f.inventory.close())
	f.note(f.boot.Close())
	return f.fault
}

// note records the first error of releasing something.
func (f *Fabric) note(err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault == nil {
		f.fault = err
	}
}

// Resources returns the number of objects that the fabric has on its devices.
func (f *Fabric) Resources() Resources { return f.books.read() }

// Traffic implements fabric.Fabric: the sum over the links over RDMA and those that the
// boot fabric has instead.
func (f *Fabric) Traffic() (t fabric.Traffic) {
	for _, e := range f.links.All() {
		select {
		case <-e.ready:
			if e.link != nil {
				t = t.Add(e.link.Traffic())
			}
		default:
		}
	}
	return t
}
