package thunder

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"thundercollective/internal/liveness"
)

// alive is this rank's part in finding out who is dead: package liveness with a
// clock, and with the control channel as its voice.
type alive struct {
	cfg   liveness.Config
	begun time.Time
	wake  chan struct{} // the monitor has something due

	mu      sync.Mutex
	monitor *liveness.Monitor

	beats beatCount
}

// beatCount counts heartbeats; received counts everything on the control channel,
// which all proves that its sender lives.
type beatCount struct{ sent, received atomic.Uint64 }

func newAlive(cfg liveness.Config) *alive {
	return &alive{cfg: cfg, begun: time.Now(), wake: make(chan struct{}, 1), monitor: liveness.New(cfg, 0)}
}

func (a *alive) now() time.Duration { return time.Since(a.begun) }

// with uses the monitor.
func (a *alive) with(f func(m *liveness.Monitor, now time.Duration)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(a.monitor, a.now())
}

// heard notes that something came from a rank.
func (a *alive) heard(rank int) {
	a.with(func(m *liveness.Monitor, now time.Duration) { m.Heard(rank, now) })
}

// next is how long to sleep before the monitor has to be asked again.
func (a *alive) next() (d time.Duration) {
	d = a.cfg.Tick()
	a.with(func(m *liveness.Monitor, now time.Duration) {
		if due, open := m.Due(); open {
			d = min(d, max(due-now, time.Millisecond))
		}
	})
	return d
}

// accuse takes evidence against a rank, and has it judged soon. It reports whether
// it is new.
func (a *alive) accuse(x liveness.Accusation) (fresh bool) {
	a.with(func(m *liveness.Monitor, now time.Duration) { fresh = m.Accuse(x, now) })
	select {
	case a.wake <- struct{}{}:
	default:
	}
	return fresh
}

// beat sends heartbeats to one peer until the job ends. Each has a goroutine of its
// own, so that neither what this rank does nor another peer delays them.
func (j *job) beat(p *peer) {
	tick := time.NewTicker(j.alive.cfg.Beat())
	defer tick.Stop()
	n := &notice{kind: noticeBeat}
	for {
		j.tell(p, n)
		j.alive.beats.sent.Add(1)
		select {
		case <-j.ctx.Done():
			return
		case <-p.left:
			return
		case <-tick.C:
		}
	}
}

// judge looks at what the monitor has found and acts on it.
func (j *job) judge() {
	var out liveness.Outcome
	j.alive.with(func(m *liveness.Monitor, now time.Duration) { out = m.Tick(now) })
	for _, r := range out.Ask {
		j.wg.Go(func() { j.ask(r) })
	}
	for _, x := range out.Accuse {
		j.log.Warn("rank is silent", "peer", x.Rank, "host", j.host(x.Rank), "cause", x.Cause)
		j.tellAll(noticeOfAccusation(x))
	}
	if v := out.Verdict; v != nil {
		j.lose(v.Rank, v.Cause, true)
	}
}

// accuse tells everybody that the connection to a rank broke.
func (j *job) accuse(rank int, cause string) {
	x := liveness.Accusation{By: j.rank, Rank: rank, Cause: cause, Broke: true}
	if j.alive.accuse(x) {
		j.tellAll(noticeOfAccusation(x))
	}
}

func noticeOfAccusation(x liveness.Accusation) *notice {
	n := &notice{kind: noticeAccuse, rankA: uint32(x.Rank), rankB: uint32(x.By), text: x.Cause}
	if x.Broke {
		n.seq = 1
	}
	return n
}

// hearAccusation takes evidence of another rank. The accused may be alive and out
// of reach of its accuser only; it has to hear of it to come to the same verdict as
// the others, so it is told by them.
func (j *job) hearAccusation(n *notice) {
	x := liveness.Accusation{By: int(n.rankB), Rank: int(n.rankA), Cause: n.text, Broke: n.seq != 0}
	if x.By >= len(j.peers) || x.Rank >= len(j.peers) || !j.alive.accuse(x) {
		return
	}
	if p := j.peers[x.Rank]; p != nil {
		j.tell(p, n)
	}
}

// lose marks a rank as dead and ends every group it is in. It may be this rank,
// in the eyes of the others. Who came to that verdict tells the others.
func (j *job) lose(rank int, cause string, verdict bool) {
	e, ended := j.convict(rank, cause, verdict)
	if e == nil {
		return
	}
	j.log.Info("rank lost", "peer", rank, "host", e.Host, "link", e.Link, "cause", cause)
	if verdict {
		// Also to the one in question: it may only have been stopped.
		j.tellAll(noticeOf(worldID, e))
	}
	if p := j.peers[rank]; p != nil {
		p.leave(errors.New(cause))
	}
	for _, c := range ended {
		c.finish(e)
	}
	j.memberships(func(s *shrinking) { s.poke() })
}

// convict records that a rank is dead, and as the failure of its groups, in one
// step: a peer that has heard of it may leave at once, and must not be blamed for
// that by a group here which does not know yet. It returns nil if all of it was
// known.
func (j *job) convict(rank int, cause string, verdict bool) (e *PeerLostError, ended []*Comm) {
	j.convicting.Lock()
	defer j.convicting.Unlock()
	fresh := false
	j.alive.with(func(m *liveness.Monitor, now time.Duration) {
		fresh = m.Convict(rank, now) || verdict
	})
	if !fresh {
		return nil, nil
	}
	e = &PeerLostError{Rank: rank, Host: j.host(rank), Link: j.linkName(rank), Cause: cause}
	if p := j.peers[rank]; p != nil {
		e.Err = p.broken()
	}
	j.mu.Lock()
	j.losses[rank] = e
	j.mu.Unlock()
	for _, c := range j.all() {
		if slices.Contains(c.ranks, rank) && c.setFailure(e) {
			ended = append(ended, c)
		}
	}
	return e, ended
}

// isDead says whether a rank was convicted.
func (j *job) isDead(rank int) (dead bool) {
	j.alive.with(func(m *liveness.Monitor, _ time.Duration) { dead = m.Dead(rank) })
	return dead
}

// linkName says how a rank is reached.
func (j *job) linkName(rank int) string {
	if j.fab == nil {
		return ""
	}
	s := j.fab.Name()
	if way := j.wiring.way(rank); way != "" {
		return s + " " + way
	}
	if rank < len(j.addrs) && len(j.addrs[rank]) > 0 {
		s += " " + j.addrs[rank][0]
	}
	return s
}

// patience is how long a rank that lost its data path to a peer waits for the
// control channel to say what became of that peer before it accuses it.
const patience = 250 * time.Millisecond

// await waits until the group has failed, but not for ever.
func (c *Comm) await(ctx context.Context, d time.Duration, or <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.ctx.Done():
	case <-or:
	case <-ctx.Done():
	case <-timer.C:
	}
}
