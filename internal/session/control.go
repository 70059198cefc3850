package session

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"thundercollective/fabric"
)

// control is the control channel of this rank: a link to every other rank that carries
// notices only.
type control struct {
	self      int
	ctx       context.Context // ends with the session
	log       *slog.Logger
	peers     []*peer // by rank; nil for this one
	everybody []int   // all ranks
	// tellers are the goroutines that deliver notices to many. They may begin while the
	// session waits for its other goroutines.
	tellers sync.WaitGroup
}

// gone returns why a rank has left; nil while it is there.
func (c *control) gone(rank int) error {
	p := c.peers[rank]
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

// tellAll sends a notice to every rank that has not left.
func (c *control) tellAll(n *notice) { c.tellRanks(c.everybody, n) }

// tellRanks sends a notice to many at the same time. It returns when all have been
// told, or after tellMany: one that does not read must not keep the rest waiting.
func (c *control) tellRanks(ranks []int, n *notice) {
	var told sync.WaitGroup
	for _, r := range ranks {
		if p := c.peers[r]; p != nil && c.gone(r) == nil {
			told.Add(1)
			c.tellers.Go(func() {
				defer told.Done()
				c.tell(p, n)
			})
		}
	}
	all := make(chan struct{})
	c.tellers.Go(func() { told.Wait(); close(all) })
	timer := time.NewTimer(tellMany)
	defer timer.Stop()
	select {
	case <-all:
	case <-timer.C:
	}
}

// tellMany bounds how long telling everybody holds up who tells them.
const tellMany = 500 * time.Millisecond

// tell sends a notice. A peer that cannot be told has troubles of its own, which
// show elsewhere.
func (c *control) tell(p *peer, n *notice) {
	if c.gone(p.rank) == nil {
		c.deliver(p, n)
	}
}

// deliver sends a notice also to a rank that is taken for dead. It may block, until
// the job ends, on a peer that reads nothing for minutes.
func (c *control) deliver(p *peer, n *notice) {
	p.sending.Lock()
	defer p.sending.Unlock()
	n.encode(&p.out)
	if err := fabric.Send(c.ctx, p.link, &noticeTag, p.out[:]); err != nil && c.ctx.Err() == nil {
		c.log.Debug("notice not delivered", "peer", p.rank, "err", err)
	}
}
