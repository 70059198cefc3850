package thunder

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"thundercollective/fabric"
)

// A peer is what this process knows of another rank.
type peer struct {
	rank int
	link fabric.Link   // control channel
	left chan struct{} // closed when it has left, well or not

	sending sync.Mutex // one notice at a time

	mu  sync.Mutex
	why error // why it left
	at  map[uint32]place
}

// place is where a peer last said it was in a group.
type place struct {
	seq uint64
	tag fabric.Tag
}

var errGoodbye = errors.New("it closed its communicator")

// leave records why a peer is gone; false if that was known.
func (p *peer) leave(why error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why != nil {
		return false
	}
	p.why = why
	close(p.left)
	return true
}

// where returns what the peer last said about a group.
func (p *peer) where(group uint32) (seq uint64, tag fabric.Tag, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.at[group]
	return at.seq, at.tag, ok
}

// noteWhere keeps what it says.
func (p *peer) noteWhere(group uint32, at place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at[group] = at
}

// gone returns why a rank has left; nil while it is there.
func (j *job) gone(rank int) error {
	p := j.peers[rank]
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

// listen takes the notices of one peer until it leaves.
func (j *job) listen(p *peer) {
	var buf [noticeSize]byte
	for {
		err := p.link.Recv(j.ctx, &noticeTag, buf[:])
		if err != nil {
			var lost *fabric.LostError
			// While we close, a peer that has our goodbye owes us none.
			if j.ctx.Err() == nil && !j.closing() && errors.As(err, &lost) {
				j.lose(p.rank, "its connection closed without a goodbye ("+lost.Err.Error()+")", err, true)
			}
			return
		}
		j.hear(p, parseNotice(&buf))
	}
}

// lose marks a rank as dead and ends every group it is in. Who saw it first hand
// tells the others.
func (j *job) lose(rank int, cause string, err error, firstHand bool) {
	if !j.peers[rank].leave(errors.New(cause)) {
		return
	}
	e := &PeerLostError{Rank: rank, Host: j.host(rank), Cause: cause, Err: err}
	j.log.Error("rank lost", "rank", rank, "host", e.Host, "cause", cause)
	if firstHand {
		j.tellAll(noticeOf(worldID, e))
	}
	for _, c := range j.all() {
		for _, r := range c.ranks {
			if r == rank {
				c.fail(e)
			}
		}
	}
}

// hear acts on a notice.
func (j *job) hear(p *peer, n *notice) {
	switch n.kind {
	case noticeGoodbye:
		p.leave(errGoodbye)
	case noticeLost:
		if int(n.rankA) == j.rank {
			err := &AbortError{Rank: p.rank, Reason: fmt.Sprintf("it lost its connection to this rank: %s", n.text)}
			j.failGroup(n.group, err)
		} else if int(n.rankA) < len(j.peers) {
			j.lose(int(n.rankA), n.text, nil, false)
		}
	case noticeMismatch, noticeTimeout, noticeAbort:
		j.failGroup(n.group, n.err())
	case noticeWhere:
		if c := j.group(n.group); c != nil {
			c.compare(p.rank, n.seq, &n.tagA)
			seq, tag := c.past.latest()
			j.tell(p, &notice{kind: noticeHere, group: n.group, seq: seq, tagA: tag})
		}
	case noticeHere:
		if j.group(n.group) != nil {
			p.noteWhere(n.group, place{n.seq, n.tagA})
		}
	}
}

// announce tells the ranks of a group why it ended.
func (j *job) announce(c *Comm, err error) {
	n := noticeOf(c.id, err)
	if n == nil {
		return
	}
	if _, lost := err.(*PeerLostError); lost {
		j.tellAll(n)
		return
	}
	for _, r := range c.ranks {
		if p := j.peers[r]; p != nil {
			j.tell(p, n)
		}
	}
}

// tellAll sends a notice to every rank that has not left.
func (j *job) tellAll(n *notice) {
	for _, p := range j.peers {
		if p != nil {
			j.tell(p, n)
		}
	}
}

// tellTime bounds how long a peer that does not read can hold up a notice. A link
// on which it passes is broken, so it must be longer than a busy machine, with many
// more ranks than cores, takes to let us run.
const tellTime = 2 * time.Second

// tell sends a notice. A peer that cannot be told has troubles of its own, which
// show elsewhere.
func (j *job) tell(p *peer, n *notice) {
	if j.gone(p.rank) != nil {
		return
	}
	p.sending.Lock()
	defer p.sending.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), tellTime)
	defer cancel()
	buf := n.encode()
	if err := p.link.Send(ctx, &noticeTag, buf[:]); err != nil {
		j.log.Debug("notice not delivered", "rank", p.rank, "err", err)
	}
}
