package collective

import (
	"context"
	"sync"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/reduce"
)

// A backlogHub is what the links of one rank to the ranks of its host share. Messages
// that were posted leave only while the rank waits in one of these links: the least
// that the contract promises.
type backlogHub struct {
	mu    sync.Mutex
	moved sync.Cond // something was posted, has left, or need not leave any more
	links []*backlogLink
}

// wait does something that blocks, and moves messages on meanwhile.
func (h *backlogHub) wait(ctx context.Context, do func() error) error {
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

// A backlogLink is a strictLink that is a fabric.Backlog.
type backlogLink struct {
	*strictLink
	hub   *backlogHub
	turn  chan struct{} // holds one while somebody pushes
	queue []strictOffer // under hub.mu
}

// push sends what was posted until it is told to stop.
func (l *backlogLink) push(ctx context.Context, stop chan struct{}) {
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
		l.queue = l.queue[1:]
		l.hub.moved.Broadcast()
		l.hub.mu.Unlock()
	}
}

// next waits for a message to send.
func (l *backlogLink) next(stop chan struct{}) (strictOffer, bool) {
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

func (l *backlogLink) Post(tag *fabric.Tag, b []byte) (bool, error) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	l.queue = append(l.queue, strictOffer{*tag, b})
	l.hub.moved.Broadcast()
	return false, nil
}

func (l *backlogLink) Await(ctx context.Context, left int) error {
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
		return context.Cause(ctx)
	})
}

func (l *backlogLink) Flush(ctx context.Context) error { return l.Await(ctx, 0) }

func (l *backlogLink) Send(ctx context.Context, tag *fabric.Tag, b []byte) error {
	if _, err := l.Post(tag, b); err != nil {
		return err
	}
	return l.Await(ctx, 0)
}

func (l *backlogLink) Recv(ctx context.Context, tag *fabric.Tag, b []byte) error {
	return l.hub.wait(ctx, func() error { return l.strictLink.Recv(ctx, tag, b) })
}

func (l *backlogLink) RecvFunc(ctx context.Context, tag *fabric.Tag, n int, f func(int, []byte) error) error {
	return l.hub.wait(ctx, func() error { return l.strictLink.RecvFunc(ctx, tag, n, f) })
}

// backlogLinks are the Links of a rank: such links to the ranks of its host, and
// strict ones to others.
type backlogLinks struct {
	Links
	hub   *backlogHub
	hosts *Hosts
	rank  int
	mu    sync.Mutex
	near  map[int]*backlogLink
}

func (p *backlogLinks) Link(ctx context.Context, peer int) (fabric.Link, error) {
	link, err := p.Links.Link(ctx, peer)
	if err != nil || p.hosts.Of(peer) != p.hosts.Of(p.rank) {
		return link, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.near[peer] == nil {
		l := &backlogLink{strictLink: link.(*strictLink), hub: p.hub, turn: make(chan struct{}, 1)}
		p.near[peer] = l
		p.hub.mu.Lock()
		p.hub.links = append(p.hub.links[:len(p.hub.links):len(p.hub.links)], l)
		p.hub.mu.Unlock()
	}
	return p.near[peer], nil
}

// TestRunBacklog runs every algorithm where some links, or all, move messages on only
// while their own rank waits in one of them. A rank that waits in another link must
// not have left anything to them.
func TestRunBacklog(t *testing.T) {
	for _, shape := range []string{"AABB", "ABAB", "AAB", "AAAA"} {
		t.Run(shape, func(t *testing.T) {
			n := len(shape)
			peers := newStrictLinks(n, false)
			for r := range peers {
				hub := &backlogHub{}
				hub.moved.L = &hub.mu
				peers[r] = &backlogLinks{Links: peers[r], hub: hub, hosts: hostsOf(shape), rank: r, near: map[int]*backlogLink{}}
			}
			g := newTestGroup(t, peers)
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
