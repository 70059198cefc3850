package collective

import (
	"context"
	"sync"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/reduce"
)

// A lazyHub is what the links of one rank share. Messages that were posted leave only
// while the rank waits in one of these links: the least that the contract promises.
type lazyHub struct {
	mu    sync.Mutex
	moved sync.Cond // something was posted, has left, or need not leave any more
	links []*lazyLink
}

// wait does something that blocks, and moves messages on meanwhile.
func (h *lazyHub) wait(ctx context.Context, do func() error) error {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	h.mu.Lock()
	links := h.links
	h.mu.Unlock()
	for _, l := range links {
		wg.Go(func() { l.push(ctx, stop) })
	}
	err := do()
	h.mu.Lock()
	close(stop)
	h.moved.Broadcast()
	h.mu.Unlock()
	wg.Wait()
	return err
}

// A lazyLink is a strictLink whose messages leave while its rank waits.
type lazyLink struct {
	*strictLink
	hub   *lazyHub
	turn  chan struct{} // holds one while somebody pushes
	queue []strictOffer // under hub.mu
}

// push sends what was posted until it is told to stop.
func (l *lazyLink) push(ctx context.Context, stop chan struct{}) {
	select {
	case l.turn <- struct{}{}:
	case <-stop:
		return
	}
	defer func() { <-l.turn }()
	for {
		next, ok := l.next(stop)
		if !ok {
			return
		}
		select {
		case l.out.offers <- next:
		case <-stop:
			return
		case <-ctx.Done():
			return
		}
		select {
		case l.out.offers <- next: // the receiver lets go of it
		case <-ctx.Done():
			return
		}
		l.hub.mu.Lock()
		if len(l.queue) > 0 { // unless the sender has given up
			l.queue = l.queue[1:]
		}
		l.hub.moved.Broadcast()
		l.hub.mu.Unlock()
	}
}

// next waits for a message to send.
func (l *lazyLink) next(stop chan struct{}) (strictOffer, bool) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	for len(l.queue) == 0 {
		select {
		case <-stop:
			return strictOffer{}, false
		default:
			l.hub.moved.Wait()
		}
	}
	return l.queue[0], true
}

func (l *lazyLink) Post(tag *fabric.Tag, b []byte) (bool, error) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	l.queue = append(l.queue, strictOffer{*tag, b})
	l.hub.moved.Broadcast()
	return false, nil
}

func (l *lazyLink) Await(ctx context.Context, left int) error {
	return l.hub.wait(ctx, func() error {
		defer context.AfterFunc(ctx, func() {
			l.hub.mu.Lock()
			defer l.hub.mu.Unlock()
			l.hub.moved.Broadcast()
		})()
		l.hub.mu.Lock()
		defer l.hub.mu.Unlock()
		for len(l.queue) > left && ctx.Err() == nil {
			l.hub.moved.Wait()
		}
		if ctx.Err() != nil {
			l.queue = nil
		}
		return context.Cause(ctx)
	})
}

func (l *lazyLink) Recv(ctx context.Context, tag *fabric.Tag, b []byte) error {
	return l.hub.wait(ctx, func() error { return l.strictLink.Recv(ctx, tag, b) })
}

func (l *lazyLink) RecvFunc(ctx context.Context, tag *fabric.Tag, n int, f func(int, []byte) error) error {
	return l.hub.wait(ctx, func() error { return l.strictLink.RecvFunc(ctx, tag, n, f) })
}

// lazyLinks are the Links of a rank.
type lazyLinks struct {
	*strictLinks
	hub *lazyHub
}

func newLazyLinks(links *strictLinks) *lazyLinks {
	p := &lazyLinks{strictLinks: links, hub: &lazyHub{}}
	p.hub.moved.L = &p.hub.mu
	return p
}

func (p *lazyLinks) Link(ctx context.Context, peer int) (fabric.Link, error) {
	link, err := p.open(ctx, peer)
	if err != nil {
		return nil, err
	}
	l := &lazyLink{strictLink: link, hub: p.hub, turn: make(chan struct{}, 1)}
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	p.hub.links = append(p.hub.links[:len(p.hub.links):len(p.hub.links)], l)
	return l, nil
}

// TestRunBacklog runs every algorithm where links move messages on only while their own
// rank waits in one of them.
func TestRunBacklog(t *testing.T) {
	for _, shape := range []string{"AABB", "ABAB", "AAB", "AAAA"} {
		t.Run(shape, func(t *testing.T) {
			n := len(shape)
			g := newTestGroup(t, newStrictLinks(n, true))
			for range 2 { // the first time, links are opened
				for kind := AllReduce; kind <= Barrier; kind++ {
					for _, algo := range Algos(kind) {
						s := Spec{
							Kind: kind, Algo: algo, Size: n, Root: n - 1, Count: 5 * n, Window: 12, ElemSize: windowBytes / 12,
							Hosts: hostsOf(shape), Separate: kind == AllToAll,
						}
						newJob(t, s, reduce.I32, reduce.Sum).check(t, g, 16)
					}
				}
			}
		})
	}
}
