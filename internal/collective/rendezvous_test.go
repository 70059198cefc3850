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

// strictLinks is one rank's Links. If lazy is set, its links are Posters that
// never finish a message before they are flushed.
type strictLinks struct {
	hub  *strictHub
	rank int
	lazy bool
}

func newStrictLinks(n int, lazy bool) []Links {
	h := &strictHub{wires: make(map[[2]int]*strictWire)}
	peers := make([]Links, n)
	for r := range peers {
		peers[r] = &strictLinks{h, r, lazy}
	}
	return peers
}

func (p *strictLinks) Link(ctx context.Context, peer int) (fabric.Link, error) {
	out, in := p.hub.wire(p.rank, peer), p.hub.wire(peer, p.rank)
	out.once.Do(func() { close(out.asked) })
	select {
	case <-in.asked:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	l := &strictLink{peer: peer, out: out, in: in}
	if p.lazy {
		return &lazyLink{strictLink: l}, nil
	}
	return l, nil
}

type strictLink struct {
	peer    int
	out, in *strictWire
}

func (l *strictLink) lost() error { return &fabric.LostError{Peer: l.peer, Err: context.Canceled} }

func (l *strictLink) Send(ctx context.Context, tag *fabric.Tag, b []byte) error {
	// The second round waits for the receiver to let go of the buffer.
	for range 2 {
		select {
		case l.out.offers <- strictOffer{*tag, b}:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.out.isCut:
			return l.lost()
		}
	}
	return nil
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

type lazyLink struct {
	*strictLink
	tag *fabric.Tag
	buf []byte
}

func (l *lazyLink) Post(tag *fabric.Tag, b []byte) (bool, error) {
	l.tag, l.buf = tag, b
	return false, nil
}

func (l *lazyLink) Flush(ctx context.Context) error { return l.Send(ctx, l.tag, l.buf) }
