package rdma

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"thundercollective/fabric"
)

var errClosed = fabric.ErrClosed

// Fabric is one rank's fabric over RDMA. It implements fabric.Fabric,
// fabric.Allocator and fabric.Counter.
type Fabric struct {
	cfg  Config
	boot fabric.Fabric

	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	devices []*device // open, in no particular order
	rows    []railRow // by peer
	regions atomic.Pointer[[]*region]
	books   ledger

	mu     sync.Mutex
	links  map[linkKey]*entry
	paths  map[int]Path // by peer
	closed bool
	fault  error // the first one of releasing
	making sync.WaitGroup
}

// railRow is what this rank has for a peer: devices, or the reason for none.
type railRow struct {
	devices []*device
	any     bool // one of them is meant
	why     error
}

type linkKey struct {
	peer int
	ch   fabric.Channel
}

// entry is a link, or the making of one.
type entry struct {
	ready chan struct{} // closed when link or err is set
	link  fabric.Link
	err   error
}

// New joins the rank of boot to its peers over RDMA. Links are agreed on over
// boot, on provider channels; Control is left to it, and so are pairs without RDMA
// if Config.Fallback allows it. The fabric takes boot over, and
// closes it in the end, unless New fails.
func New(ctx context.Context, boot fabric.Fabric, cfg Config) (*Fabric, error) {
	cfg, err := cfg.withDefaults(boot.Size())
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	f := &Fabric{cfg: cfg, boot: boot, links: map[linkKey]*entry{}, paths: map[int]Path{}}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	if err := f.openDevices(); err != nil {
		f.cancel()
		return nil, errors.Join(fmt.Errorf("rdma: %w", err), f.closeDevices())
	}
	return f, nil
}

// openDevices opens what the row names, or all there is. Without Fallback, a peer
// that cannot be reached is an error.
func (f *Fabric) openDevices() error {
	f.rows = make([]railRow, f.Size())
	var broken error
	if f.cfg.Host == nil {
		h, err := systemHost()
		if err != nil {
			broken = &absentError{err}
		}
		f.cfg.Host = h
	}
	opened := map[string]railRow{} // by device
	for peer := range f.rows {
		if peer == f.Rank() {
			continue
		}
		row := &f.rows[peer]
		switch {
		case broken != nil:
			row.why = broken
		case f.cfg.Devices == nil:
			*row = f.anyDevices(opened)
		case len(f.cfg.Devices[peer]) == 0:
			row.why = fmt.Errorf("the hostfile names no RDMA device from rank %d to rank %d", f.Rank(), peer)
		default:
			*row = f.namedDevices(opened, f.cfg.Devices[peer])
		}
		if row.why != nil && !f.cfg.Fallback {
			return row.why
		}
	}
	return nil
}

// open opens a device once.
func (f *Fabric) open(opened map[string]railRow, name string) railRow {
	r, seen := opened[name]
	if !seen {
		d, err := openDevice(&f.cfg, &f.books, name)
		if r.why = err; err == nil {
			d.num = len(f.devices)
			f.devices = append(f.devices, d)
			r.devices = []*device{d}
		}
		opened[name] = r
	}
	return r
}

func (f *Fabric) namedDevices(opened map[string]railRow, names []string) railRow {
	var row railRow
	for _, name := range names {
		r := f.open(opened, name)
		if r.why != nil {
			return r
		}
		row.devices = append(row.devices, r.devices...)
	}
	return row
}

// anyDevices finds the devices that work, and says why none does.
func (f *Fabric) anyDevices(opened map[string]railRow) railRow {
	names, err := f.cfg.Host.Devices()
	if err == nil && len(names) == 0 {
		err = &absentError{errNoDevice}
	}
	row := railRow{any: true, why: err}
	for _, name := range names {
		r := f.open(opened, name)
		row.devices = append(row.devices, r.devices...)
		if row.why == nil {
			row.why = r.why
		}
	}
	if len(row.devices) > 0 {
		row.why = nil
		row.devices = row.devices[:min(len(row.devices), maxRails)]
	}
	return row
}

// An absentError wraps the reason why a machine has no RDMA at all.
type absentError struct{ error }

func (e *absentError) Unwrap() error { return e.error }

var errNoDevice = errors.New("this machine has no RDMA device; is the card there, and its driver loaded? " +
	"(soft-RoCE: rdma link add rxe0 type rxe netdev eth0; macOS: rdma_ctl enable, in Recovery)")

func (f *Fabric) rails(peer int) []*device { return f.rows[peer].devices }

// offerTo is what this rank has for a peer.
func (f *Fabric) offerTo(peer int) offer {
	row := &f.rows[peer]
	o := offer{Protocol: protocol, Any: row.any, Fallback: f.cfg.Fallback, Why: text(row.why)}
	o.Plain = f.cfg.Devices == nil && errors.As(row.why, new(*absentError))
	for _, d := range row.devices {
		o.Rails = append(o.Rails, d.offer())
	}
	return o
}

// Name implements fabric.Fabric. It says what there is to expect: "rdma+tcp" when
// pairs may have to do without RDMA, "tcp" when all of them have to.
func (f *Fabric) Name() string {
	switch {
	case !f.cfg.Fallback:
		return "rdma"
	case len(f.devices) == 0:
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
	if peer < 0 || peer >= f.Size() || peer == f.Rank() {
		return nil, fmt.Errorf("rdma: rank %d has no link to rank %d (of %d ranks)", f.Rank(), peer, f.Size())
	}
	switch {
	case ch&setupChannels == setupChannels, ch&fabric.ProviderChannels == 0 && ch&setupChannels != 0:
		return nil, fmt.Errorf("rdma: channel %#x is not for use", uint32(ch))
	case ch == fabric.Control || ch >= fabric.ProviderChannels:
		return f.boot.Link(ctx, peer, ch)
	}
	e, first, err := f.entry(linkKey{peer, ch})
	if err != nil {
		return nil, err
	}
	if first {
		f.make(ctx, linkKey{peer, ch}, e)
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

// entry finds the place of a link. The first to ask for it has to make it.
func (f *Fabric) entry(k linkKey) (e *entry, first bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, false, errClosed
	}
	if e = f.links[k]; e == nil {
		e = &entry{ready: make(chan struct{})}
		f.links[k] = e
		f.making.Add(1)
		first = true
	}
	return e, first, nil
}

// make makes a link, until ctx ends or the fabric is closed. One that could not
// be made may be asked for again.
func (f *Fabric) make(ctx context.Context, k linkKey, e *entry) {
	defer f.making.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(f.ctx, func() { cancel(errClosed) })()
	e.link, e.err = f.establish(ctx, k.peer, k.ch)
	if e.err != nil {
		f.mu.Lock()
		delete(f.links, k)
		f.mu.Unlock()
	}
	close(e.ready)
}

// Close implements fabric.Fabric.
func (f *Fabric) Close() error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil
	}
	f.closed = true
	f.mu.Unlock()
	f.cancel()
	f.making.Wait() // nobody adds to links any more
	for _, e := range f.links {
		if e.link != nil {
			e.link.Close()
		}
	}
	for _, e := range f.links {
		if l, ok := e.link.(*Link); ok {
			<-l.ended
		}
	}
	if all := f.regions.Load(); all != nil {
		for _, g := range *all {
			f.note(f.drop(g))
		}
	}
	f.note(f.closeDevices())
	f.note(f.boot.Close())
	return f.fault
}

func (f *Fabric) closeDevices() error {
	var first error
	for _, d := range f.devices {
		if err := d.close(&f.books); first == nil {
			first = err
		}
	}
	return first
}

// note keeps the first error of releasing.
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

// Resources counts what the fabric holds on its devices.
func (f *Fabric) Resources() Resources { return f.books.read() }

// Traffic implements fabric.Counter: the sum over all links.
func (f *Fabric) Traffic() fabric.Traffic {
	f.mu.Lock()
	defer f.mu.Unlock()
	var t fabric.Traffic
	for _, e := range f.links {
		select {
		case <-e.ready:
			if c, ok := e.link.(fabric.Counter); ok {
				t = t.Add(c.Traffic())
			}
		default:
		}
	}
	return t
}
