package thunder

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/liveness"
)

// A peer is what this process knows of another rank.
type peer struct {
	rank int
	link fabric.Link   // control channel
	left chan struct{} // closed when it has left, well or not

	first chan error // how the first notice was received, which is awaited from the meeting on
	in    [noticeSize]byte

	sending sync.Mutex // one notice at a time
	out     [noticeSize]byte

	mu   sync.Mutex
	why  error // why it left
	seen error // what the fabric said when its connection broke
	at   map[uint32]place
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

// broken returns what the fabric said when the peer's connection broke, if it did.
func (p *peer) broken() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
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
	for err := <-p.first; ; err = p.link.Recv(j.ctx, &noticeTag, p.in[:]) {
		if err != nil {
			var lost *fabric.LostError
			switch {
			case j.ctx.Err() != nil || j.closing(): // a peer that has our goodbye owes us none
			case errors.As(err, &lost):
				if r := j.relayGone(p.rank); r >= 0 {
					// It may well be alive; that the relay is gone is enough.
					p.leave(fmt.Errorf("rank %d, which passed on what went there, is gone", r))
					return
				}
				j.broke(p, "its connection closed without a goodbye ("+lost.Err.Error()+")", err)
			default:
				j.broke(p, "its control channel is corrupt ("+err.Error()+")", err)
			}
			return
		}
		j.alive.heard(p.rank)
		j.alive.beats.received.Add(1)
		if noticeKind(p.in[0]) != noticeBeat {
			j.hear(p, parseNotice(&p.in))
		}
	}
}

// broke notes that the control channel to a peer ended, and accuses it unless it
// had left.
func (j *job) broke(p *peer, cause string, err error) {
	p.mu.Lock()
	p.seen = err
	p.mu.Unlock()
	if p.leave(errors.New(cause)) {
		j.accuse(p.rank, cause)
	}
	j.memberships(func(s *shrinking) { s.poke() })
}

// hear acts on a notice.
func (j *job) hear(p *peer, n *notice) {
	switch n.kind {
	case noticeGoodbye:
		j.alive.with(func(m *liveness.Monitor, _ time.Duration) { m.Left(p.rank) })
		p.leave(errGoodbye)
		j.memberships(func(s *shrinking) { s.poke() })
	case noticeAccuse:
		j.hearAccusation(n)
	case noticeLost:
		if int(n.rankA) < len(j.peers) && !j.isDead(p.rank) {
			j.lose(int(n.rankA), n.text, false)
		}
	case noticeMismatch, noticeTimeout, noticeAbort, noticeGone:
		j.failGroup(n.group, n.err())
	case noticeWhere:
		if c := j.group(n.group); c != nil {
			c.compare(p.rank, n.seq, &n.tagA)
			seq, tag := c.current.latest()
			j.tell(p, &notice{kind: noticeHere, group: n.group, seq: seq, tagA: tag})
		} else if j.leftBefore(n.group, n.seq) {
			j.tell(p, &notice{kind: noticeGone, group: n.group, rankA: uint32(j.rank), text: errGoodbye.Error(), text2: j.host(j.rank)})
		}
	case noticeHere:
		if j.group(n.group) != nil {
			p.noteWhere(n.group, place{n.seq, n.tagA})
		}
	case noticeMember:
		j.hearMember(p, n)
	}
}

// announce tells the ranks of a group why it ended.
func (j *job) announce(c *Comm, err error) {
	if n := noticeOf(c.id, err); n != nil {
		j.tellRanks(c.ranks, n)
	}
}

// tellAll sends a notice to every rank that has not left.
func (j *job) tellAll(n *notice) { j.tellRanks(j.everybody, n) }

// tellRanks sends a notice to many at the same time. It returns when all have been
// told, or after tellMany: one that does not read must not keep the rest waiting.
func (j *job) tellRanks(ranks []int, n *notice) {
	var told sync.WaitGroup
	for _, r := range ranks {
		if p := j.peers[r]; p != nil && j.gone(r) == nil {
			told.Add(1)
			j.tellers.Go(func() {
				defer told.Done()
				j.tell(p, n)
			})
		}
	}
	all := make(chan struct{})
	j.tellers.Go(func() { told.Wait(); close(all) })
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
func (j *job) tell(p *peer, n *notice) {
	if j.gone(p.rank) == nil {
		j.deliver(p, n)
	}
}

// deliver sends a notice also to a rank that is taken for dead. It may block, until
// the job ends, on a peer that reads nothing for minutes.
func (j *job) deliver(p *peer, n *notice) {
	p.sending.Lock()
	defer p.sending.Unlock()
	n.encode(&p.out)
	if err := p.link.Send(j.ctx, &noticeTag, p.out[:]); err != nil && j.ctx.Err() == nil {
		j.log.Debug("notice not delivered", "peer", p.rank, "err", err)
	}
}
