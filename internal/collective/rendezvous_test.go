package collective

import (
	"context"
	"sync"

	"thundercollective/fabric"
)

// The strictest fabric that the contract allows: a send ends only when the peer
// has received it, out of the sender's own buffer; opening waits for the peer to
// ask too; and a reduction gets its pieces out of order, two at a time.

type strictHub struct {
	mu    sync.Mutex
	wires map[[2]int]*strictWire
}

type strictWire struct {
	asked   chan struct{} // closed when the sender has asked for the link
	once    sync.Once
	offers  chan strictOffer
	isCut   chan struct{}
	cutOnce sync.Once
}

type strictOffer struct {
	tag fabric.Tag
	buf []byte
}

func (h *strictHub) wire(from, to int) *strictWire {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.wires[[2]int{from, to}]
	if w == nil {
		w = &strictWire{
			asked: make(chan struct{}), offers: make(chan strictOffer),
			isCut: make(chan struct{}),
		}
		h.wires[[2]int{from, to}] = w
	}
	return w
}

// strictLinks is one rank's Links.
type strictLinks struct {
	hub  *strictHub
	rank int
}

// newStrictLinks returns the Links of n ranks. If lazy is set, messages leave only while
// their sender waits: see lazyLinks.
func newStrictLinks(n int, lazy bool) []Links {
	h := &strictHub{wires: make(map[[2]int]*strictWire)}
	peers := make([]Links, n)
	for r := range peers {
		links := &strictLinks{h, r}
		peers[r] = links
		if lazy {
			peers[r] = newLazyLinks(links)
		}
	}
	return peers
}

func (p *strictLinks) Link(ctx context.Context, peer int) (fabric.Link, error) {
	return p.open(ctx, peer)
}

func (p *strictLinks) open(ctx context.Context, peer int) (*strictLink, error) {
	out, in := p.hub.wire(p.rank, peer), p.hub.wire(peer, p.rank)
	out.once.Do(func() { close(out.asked) })
	select {
	case <-in.asked:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	l := &strictLink{peer: peer, out: out, in: in, stop: make(chan struct{})}
	l.changed.L = &l.mu
	return l, nil
}

type strictLink struct {
	baseLink
	peer    int
	out, in *strictWire

	// The sending side.
	mu      sync.Mutex
	changed sync.Cond
	queue   []strictOffer
	pushing bool // a goroutine sends the queue
	err     error
	stop    chan struct{} // closed with err
}

func (l *strictLink) lost() error { return &fabric.LostError{Peer: l.peer, Err: context.Canceled} }

func (l *strictLink) Post(tag *fabric.Tag, b []byte) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return false, l.err
	}
	l.queue = append(l.queue, strictOffer{*tag, b})
	if !l.pushing {
		l.pushing = true
		go l.push()
	}
	return false, nil
}

// push sends what was posted.
func (l *strictLink) push() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) > 0 && l.err == nil {
		next := l.queue[0]
		l.mu.Unlock()
		err := l.offer(next)
		l.mu.Lock()
		if err != nil {
			l.fail(err)
			break
		}
		l.queue = l.queue[1:]
		l.changed.Broadcast()
	}
	l.pushing = false
	l.changed.Broadcast()
}

// offer sends one message. The second round waits for the receiver to let go of the
// buffer.
func (l *strictLink) offer(o strictOffer) error {
	for range 2 {
		select {
		case l.out.offers <- o:
		case <-l.stop:
			return context.Canceled
		case <-l.out.isCut:
			return l.lost()
		}
	}
	return nil
}

// fail ends the sending side. The caller holds mu.
func (l *strictLink) fail(err error) {
	if l.err == nil {
		l.err = err
		close(l.stop)
	}
}

func (l *strictLink) Await(ctx context.Context, left int) error {
	defer context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.changed.Broadcast()
	})()
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) > left && l.err == nil {
		if ctx.Err() != nil {
			l.fail(context.Cause(ctx))
			break
		}
		l.changed.Wait()
	}
	for l.err != nil && l.pushing {
		l.changed.Wait()
	}
	return l.err
}

func (l *strictLink) take(ctx context.Context) (strictOffer, error) {
	select {
	case o := <-l.in.offers:
		return o, nil
	case <-ctx.Done():
		return strictOffer{}, context.Cause(ctx)
	case <-l.in.isCut:
		return strictOffer{}, l.lost()
	}
}

func (l *strictLink) receive(ctx context.Context, tag *fabric.Tag, n int, use func([]byte) error) error {
	o, err := l.take(ctx)
	if err != nil {
		return err
	}
	if o.tag != *tag || len(o.buf) != n {
		return &fabric.TagError{Peer: l.peer, Want: *tag, Got: o.tag, WantLen: uint64(n), GotLen: uint64(len(o.buf))}
	}
	if err := use(o.buf); err != nil {
		return err
	}
	_, err = l.take(ctx)
	return err
}

func (l *strictLink) Recv(ctx context.Context, tag *fabric.Tag, b []byte) error {
	return l.receive(ctx, tag, len(b), func(p []byte) error { copy(b, p); return nil })
}

func (l *strictLink) RecvFunc(ctx context.Context, tag *fabric.Tag, n int, f func(int, []byte) error) error {
	return l.receive(ctx, tag, n, func(p []byte) error {
		half := n / 2 / fabric.PieceAlign * fabric.PieceAlign
		var wg sync.WaitGroup
		wg.Go(func() { f(half, p[half:]) })
		if half > 0 {
			wg.Go(func() { f(0, p[:half]) })
		}
		wg.Wait()
		return nil
	})
}

func (l *strictLink) Close() error {
	l.out.cutOnce.Do(func() { close(l.out.isCut) })
	l.in.cutOnce.Do(func() { close(l.in.isCut) })
	return nil
}
