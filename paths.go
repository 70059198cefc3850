package thunder

import (
	"context"
	"errors"
	"sync"
	"time"

	"thundercollective/fabric"
)

// paths are the links of one channel of a group, opened on first use.
type paths struct {
	comm    *Comm
	channel fabric.Channel

	mu     sync.Mutex
	links  []fabric.Link // by rank in the group
	closed bool
}

// Link returns the link to a rank of the group. It makes paths the
// collective.Links of an executor.
func (p *paths) Link(ctx context.Context, peer int) (fabric.Link, error) {
	p.mu.Lock()
	l := p.links[peer]
	p.mu.Unlock()
	if l != nil {
		return l, nil
	}
	world := p.comm.ranks[peer]
	l, err := p.comm.job.open(ctx, world, p.channel)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		l.Close()
		return nil, fabric.ErrClosed
	}
	p.links[peer] = l
	return l, nil
}

// open asks the fabric for a link, and does not wait for a rank that has left. What that
// rank had opened before is still here, or about to be, with what it had sent.
func (j *job) open(ctx context.Context, rank int, ch fabric.Channel) (fabric.Link, error) {
	present, cancel := context.WithCancelCause(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		select {
		case <-present.Done():
			return
		case <-j.peers[rank].left:
		}
		select {
		case <-present.Done():
		case <-time.After(patience):
			cancel(errGone)
		}
	})
	defer watcher.Wait()
	defer cancel(nil)
	l, err := j.fab.Link(present, rank, ch)
	if err != nil && errors.Is(context.Cause(present), errGone) {
		return nil, &fabric.LostError{Peer: rank, Err: j.gone(rank)}
	}
	return l, err
}

// errGone ends the wait for a rank that has left.
var errGone = errors.New("it has left")

// close breaks all links of the channel.
func (p *paths) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, l := range p.links {
		if l != nil {
			l.Close()
		}
	}
}

// failed ends the group, and with it what is still blocked in it, as soon as one part of
// an operation fails.
func (p *paths) failed(err error) {
	p.comm.explain(err, p.comm.current.operation())
}
