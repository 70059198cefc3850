package session

import (
	"errors"
	"fmt"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/liveness"
)

// listen takes the notices of one peer until it leaves.
func (s *Session) listen(p *peer) {
	for err := <-p.first; ; err = p.link.Recv(s.ctx, &noticeTag, p.in[:]) {
		if err != nil {
			var lost *fabric.LostError
			switch {
			case s.ctx.Err() != nil || s.groups.closing(): // a peer that has our goodbye owes us none
			case errors.As(err, &lost):
				if r := s.relayGone(p.rank); r >= 0 {
					// It may well be alive; that the relay is gone is enough.
					p.leave(fmt.Errorf("rank %d, which passed on what went there, is gone", r))
					return
				}
				s.broke(p, "its connection closed without a goodbye ("+lost.Err.Error()+")", err)
			default:
				s.broke(p, "its control channel is corrupt ("+err.Error()+")", err)
			}
			return
		}
		s.alive.heard(p.rank)
		s.alive.beats.received.Add(1)
		if noticeKind(p.in[0]) != noticeBeat {
			s.hear(p, parseNotice(&p.in))
		}
	}
}

// broke notes that the control channel to a peer ended, and accuses it unless it
// had left.
func (s *Session) broke(p *peer, cause string, err error) {
	p.mu.Lock()
	p.seen = err
	p.mu.Unlock()
	if p.leave(errors.New(cause)) {
		s.alive.accuse(p.rank, cause)
	}
	s.shrinks.poke()
}

// hear acts on a notice.
func (s *Session) hear(p *peer, n *notice) {
	switch n.kind {
	case noticeGoodbye:
		s.alive.with(func(m *liveness.Monitor, _ time.Duration) { m.Left(p.rank) })
		p.leave(errGoodbye)
		s.shrinks.poke()
	case noticeAccuse:
		s.alive.hearAccusation(n)
	case noticeWithdraw:
		s.alive.hearWithdrawal(n)
	case noticeLost:
		if int(n.rankA) < len(s.control.peers) && !s.alive.isDead(p.rank) {
			s.alive.lose(int(n.rankA), n.text, false)
		}
	case noticeMismatch, noticeTimeout, noticeAbort, noticeGone:
		s.failGroup(n.group, n.err())
	case noticeWhere:
		if g := s.groups.get(n.group); g != nil {
			if err := g.Compare(p.rank, n.seq, &n.tagA); err != nil {
				s.failAll(g, err)
			}
			seq, tag := g.Latest()
			s.control.tell(p, &notice{kind: noticeHere, group: n.group, seq: seq, tagA: tag})
		} else if s.groups.leftBefore(n.group, n.seq) {
			s.control.tell(p, &notice{kind: noticeGone, group: n.group, rankA: uint32(s.cfg.Rank), text: errGoodbye.Error(), text2: s.host(s.cfg.Rank)})
		}
	case noticeHere:
		if s.groups.get(n.group) != nil {
			p.noteWhere(n.group, place{n.seq, n.tagA})
		}
	case noticeMember:
		s.hearMember(p, n)
	}
}
