package session

import (
	"errors"
	"slices"
	"time"

	"thundercollective/internal/failure"
	"thundercollective/internal/liveness"
)

// beat sends heartbeats to one peer until the job ends. Each has a goroutine of its
// own, so that neither what this rank does nor another peer delays them.
func (a *alive) beat(p *peer) {
	tick := time.NewTicker(a.cfg.Beat())
	defer tick.Stop()
	n := &notice{kind: noticeBeat}
	for {
		a.session.control.tell(p, n)
		a.beats.sent.Add(1)
		select {
		case <-a.session.ctx.Done():
			return
		case <-p.left:
			return
		case <-tick.C:
		}
	}
}

// judge looks at what the monitor has found and acts on it.
func (a *alive) judge() {
	var out liveness.Outcome
	a.with(func(m *liveness.Monitor, now time.Duration) { out = m.Tick(now) })
	for _, r := range out.Ask {
		a.session.wg.Go(func() { a.probe(r) })
	}
	for _, w := range out.Withdraw {
		a.session.cfg.Log.Warn("rank is heard again", "peer", w.Rank, "host", a.session.host(w.Rank))
		a.session.control.tellAll(noticeOfWithdrawal(w))
	}
	for _, x := range out.Accuse {
		a.session.cfg.Log.Warn("rank is silent", "peer", x.Rank, "host", a.session.host(x.Rank), "cause", x.Cause)
		a.session.control.tellAll(noticeOfAccusation(x))
	}
	if v := out.Verdict; v != nil {
		a.lose(v.Rank, v.Cause, true)
	}
}

// accuse tells everybody that the connection to a rank broke.
func (a *alive) accuse(rank int, cause string) {
	x := liveness.Accusation{By: a.session.cfg.Rank, Rank: rank, Cause: cause, Broke: true}
	if a.take(x) {
		a.session.control.tellAll(noticeOfAccusation(x))
	}
}

func noticeOfAccusation(x liveness.Accusation) *notice {
	n := &notice{kind: noticeAccuse, rankA: uint32(x.Rank), rankB: uint32(x.By), nanos: uint64(x.At), text: x.Cause}
	if x.Broke {
		n.seq = 1
	}
	return n
}

func noticeOfWithdrawal(w liveness.Withdrawal) *notice {
	return &notice{kind: noticeWithdraw, rankA: uint32(w.Rank), rankB: uint32(w.By), nanos: uint64(w.At)}
}

// hearAccusation takes evidence of another rank. The accused may be alive and out
// of reach of its accuser only; it has to hear of it to come to the same verdict as
// the others, so it is told by them.
func (a *alive) hearAccusation(n *notice) {
	x := liveness.Accusation{By: int(n.rankB), Rank: int(n.rankA), Cause: n.text, Broke: n.seq != 0, At: time.Duration(n.nanos)}
	if x.By < len(a.session.control.peers) && x.Rank < len(a.session.control.peers) && a.take(x) {
		a.passOn(x.Rank, n)
	}
}

// hearWithdrawal takes evidence of another rank back. The accused heard of that evidence
// also from others, so it does of this.
func (a *alive) hearWithdrawal(n *notice) {
	w := liveness.Withdrawal{By: int(n.rankB), Rank: int(n.rankA), At: time.Duration(n.nanos)}
	if w.By >= len(a.session.control.peers) || w.Rank >= len(a.session.control.peers) {
		return
	}
	fresh := false
	a.with(func(m *liveness.Monitor, now time.Duration) { fresh = m.Withdraw(w, now) })
	if fresh {
		a.passOn(w.Rank, n)
	}
}

// passOn passes a notice on to the rank that it is about, unless that is this rank.
func (a *alive) passOn(rank int, n *notice) {
	if p := a.session.control.peers[rank]; p != nil {
		a.session.control.tell(p, n)
	}
}

// lose marks a rank as dead and ends every group it is in. It may be this rank,
// in the eyes of the others. Who came to that verdict tells the others.
func (a *alive) lose(rank int, cause string, verdict bool) {
	e, ended := a.convict(rank, cause, verdict)
	if e == nil {
		return
	}
	a.session.cfg.Log.Info("rank lost", "peer", rank, "host", e.Host, "link", e.Link, "cause", cause)
	if verdict {
		// Also to the one in question: it may only have been stopped.
		a.session.control.tellAll(noticeOf(WorldID, e))
	}
	if p := a.session.control.peers[rank]; p != nil {
		p.leave(errors.New(cause))
		a.session.cfg.GiveUp(rank)
	} else { // this rank is out of reach of all others
		for _, r := range a.session.control.everybody {
			a.session.cfg.GiveUp(r)
		}
	}
	for _, g := range ended {
		g.Finish(e)
	}
	a.session.shrinks.poke()
}

// convict records that a rank is dead, and as the failure of its groups, in one
// step: a peer that has heard of it may leave at once, and must not be blamed for
// that by a group here which does not know yet. It returns nil if all of it was
// known.
func (a *alive) convict(rank int, cause string, verdict bool) (e *failure.PeerLostError, ended []Group) {
	a.convicting.Lock()
	defer a.convicting.Unlock()
	fresh := false
	a.with(func(m *liveness.Monitor, now time.Duration) {
		fresh = m.Convict(rank, now) || verdict
	})
	if !fresh {
		return nil, nil
	}
	e = &failure.PeerLostError{Rank: rank, Host: a.session.host(rank), Link: a.session.cfg.LinkName(rank), Cause: cause}
	if p := a.session.control.peers[rank]; p != nil {
		e.Err = p.broken()
	}
	a.session.groups.lose(rank, e)
	for _, g := range a.session.groups.all() {
		if slices.Contains(g.Ranks(), rank) && g.SetFailure(e) {
			ended = append(ended, g)
		}
	}
	return e, ended
}

// isDead reports whether a rank was convicted.
func (a *alive) isDead(rank int) (dead bool) {
	a.with(func(m *liveness.Monitor, _ time.Duration) { dead = m.Dead(rank) })
	return dead
}
