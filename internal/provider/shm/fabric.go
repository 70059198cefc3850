package shm

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/linktable"
)

var _ fabric.Fabric = (*Fabric)(nil)

// Fabric is one rank's fabric.Fabric over shared memory, and over the bootstrap
// for peers that share none.
type Fabric struct {
	cfg   Config
	host  string
	id    nonce     // of the home segment and of what Alloc returns
	home  *segment  // where our bells are; nil where no memory can be shared
	bells []ownBell // by number

	serial  atomic.Uint32 // of the last segment; the home segment is the first
	sharers atomic.Uint32 // peers so far with which memory is shared
	mixed   atomic.Bool   // some peers share no memory; see mover

	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup

	mu         sync.Mutex
	pairs      map[int]*pair
	progresses map[fabric.Channel]*progress
	links      linktable.Table[*opening]

	shared  sharing
	warning sync.Once // that neighbours share no memory, with the first of them
}

// An opening is a link from the moment somebody wants it.
type opening struct {
	ready chan struct{} // closed when one of the others is set
	link  *link         // nil if the bootstrap carries it
	err   error
}

// New returns the fabric of one rank. It takes cfg.Bootstrap over, also when it
// fails.
func New(cfg Config) (*Fabric, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		if cfg.Bootstrap != nil {
			cfg.Bootstrap.Close()
		}
		return nil, err
	}
	f := &Fabric{
		cfg: cfg, host: hostID(), id: newNonce(),
		pairs: map[int]*pair{}, progresses: map[fabric.Channel]*progress{},
	}
	f.shared.f = f
	for peer := range f.Size() {
		if peer != f.Rank() && !cfg.Near(peer) {
			f.mixed.Store(true)
		}
	}
	f.ctx, f.cancel = context.WithCancelCause(context.Background())
	f.home, err = newSegment(homeSize, f.id, f.nextSerial())
	if err != nil {
		cfg.Logger.Debug("no shared memory", "err", err)
		return f, nil
	}
	f.bells = make([]ownBell, bellCount)
	for i := range f.bells {
		f.bells[i].bell = bellOf(f.home, i)
		if cfg.Portable {
			f.bells[i].alarm = new(alarm)
		}
	}
	return f, nil
}

// homeSerial is the serial number of every rank's home segment.
const homeSerial = 1

// nextSerial returns a number that no other segment of this rank has.
func (f *Fabric) nextSerial() uint64 { return uint64(f.serial.Add(1)) }

// knocked is called when a peer has knocked.
func (f *Fabric) knocked(bell int) {
	if bell < len(f.bells) && f.cfg.Portable {
		f.bells[bell].knocked()
	}
}

// Name implements fabric.Fabric. It tells what there is to expect, and of pairs that have
// met what there is: "shm+tcp" when some peers share no memory, and the bootstrap's name
// when none does.
func (f *Fabric) Name() string {
	boot, apart := f.cfg.Bootstrap.Name(), 0
	for peer := range f.Size() {
		if peer != f.Rank() && f.apartFrom(peer) {
			apart++
		}
	}
	switch apart {
	case 0:
		return "shm"
	case f.Size() - 1:
		return boot
	}
	return "shm+" + boot
}

// apartFrom reports whether it is known that no memory is shared with a peer.
func (f *Fabric) apartFrom(peer int) bool {
	if f.home == nil || !f.cfg.Near(peer) {
		return true
	}
	p := f.met(peer)
	return p != nil && p.home == nil
}

// Rank implements fabric.Fabric.
func (f *Fabric) Rank() int { return f.cfg.Bootstrap.Rank() }

// Size implements fabric.Fabric.
func (f *Fabric) Size() int { return f.cfg.Bootstrap.Size() }

// Link implements fabric.Fabric. The control channel is always the bootstrap's: it
// is about life and death, and best kept out of a dying process's memory.
func (f *Fabric) Link(ctx context.Context, peer int, ch fabric.Channel) (fabric.Link, error) {
	if ch == fabric.Control || ch >= fabric.ProviderChannels || peer < 0 || peer >= f.Size() || peer == f.Rank() {
		return f.cfg.Bootstrap.Link(ctx, peer, ch)
	}
	p, err := f.pair(ctx, peer)
	if err != nil {
		return nil, err
	}
	if p.home == nil {
		return f.cfg.Bootstrap.Link(ctx, peer, ch)
	}
	o, err := f.open(p, linktable.Key{Peer: peer, Channel: ch})
	if err != nil {
		return nil, err
	}
	select {
	case <-o.ready:
		if o.err != nil {
			return nil, o.err
		}
		return o.link, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("shm: waiting for rank %d: %w", peer, context.Cause(ctx))
	case <-f.ctx.Done():
		return nil, fabric.ErrClosed
	}
}

// open begins to open a link, once.
func (f *Fabric) open(p *pair, k linktable.Key) (*opening, error) {
	o, _, err := f.links.Get(k, nil, func() *opening {
		o := &opening{ready: make(chan struct{})}
		f.wg.Go(func() {
			defer close(o.ready)
			o.link, o.err = f.connect(p, k.Peer, k.Channel)
		})
		return o
	})
	return o, err
}

// progressOf returns what the links of a channel share.
func (f *Fabric) progressOf(ch fabric.Channel) *progress {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.progresses[ch]
	if p == nil {
		p = &progress{bell: &f.bells[bellNumber(ch)], start: time.Now()}
		f.progresses[ch] = p
	}
	return p
}

// Close implements fabric.Fabric.
func (f *Fabric) Close() error {
	if !f.links.Close() {
		return nil
	}
	f.mu.Lock()
	f.cancel(fabric.ErrClosed)
	f.mu.Unlock()
	f.wg.Wait() // nobody adds links or pairs any more
	for _, o := range f.links.All() {
		if o.link != nil {
			o.link.Close()
		}
	}
	err := f.cfg.Bootstrap.Close()
	f.shared.close()
	for _, p := range f.progresses {
		p.close()
	}
	for _, p := range f.pairs {
		p.passage.closeIfAny()
		p.home.closeIfAny()
	}
	f.home.closeIfAny()
	return err
}

// Traffic implements fabric.Fabric: memory and bootstrap together, control messages
// included.
func (f *Fabric) Traffic() fabric.Traffic {
	t := f.cfg.Bootstrap.Traffic()
	for _, o := range f.links.All() {
		select {
		case <-o.ready:
			if o.link != nil {
				t = t.Add(o.link.Traffic())
			}
		default:
		}
	}
	return t
}
