package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"thundercollective/internal/failure"
	"thundercollective/internal/membership"
)

// shrinkEvery is how often ranks that have not answered are asked again: they may
// not have called Shrink yet.
const shrinkEvery = 50 * time.Millisecond

// Shrink agrees with the survivors of a group on who is left, ends the group where it
// still works, and returns the ranks of the job that remain.
func (s *Session) Shrink(ctx context.Context, g Group) ([]int, error) {
	all := g.Ranks()
	if n := len(all); n > membership.Max {
		return nil, fmt.Errorf("thunder: shrink: a group of %d ranks is too large, the most is %d", n, membership.Max)
	}
	if err := s.expelled(g); err != nil {
		return nil, err
	}
	s.failAll(g, &failure.AbortError{Rank: s.cfg.Rank, Reason: "it shrinks the group"})
	agreement, err := s.shrinks.begin(s, g)
	if err != nil {
		return nil, err
	}
	set, err := agreement.run(ctx)
	if err != nil {
		return nil, err
	}
	var ranks []int
	for _, r := range set.Ranks() {
		ranks = append(ranks, all[r])
	}
	return ranks, nil
}

// expelled returns why this rank has no part in what is left of a group.
func (s *Session) expelled(g Group) error {
	err := g.Err()
	if lost, ok := errors.AsType[*failure.PeerLostError](err); ok && lost.Rank == s.cfg.Rank {
		return err
	}
	if closed, ok := errors.AsType[*failure.ClosedError](err); ok {
		return closed
	}
	return nil
}

// shrinking is the agreement on who is left of a group. It outlives the call, since
// others may ask for the outcome later.
type shrinking struct {
	session *Session
	group   Group
	wake    chan struct{}

	mu      sync.Mutex
	machine *membership.Machine
	used    bool // the outcome was returned
}

// agreements are those begun at this rank, by the number of the group.
type agreements struct {
	mu   sync.Mutex
	list map[uint32]*shrinking
}

// begin returns the agreement of a group, begun if need be.
func (a *agreements) begin(s *Session, g Group) (*shrinking, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	sh := a.list[g.ID()]
	if sh == nil {
		sh = &shrinking{session: s, group: g, wake: make(chan struct{}, 1)}
		sh.machine = membership.New(g.Rank(), len(g.Ranks()), sh.gone())
		if a.list == nil {
			a.list = map[uint32]*shrinking{}
		}
		a.list[g.ID()] = sh
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.used {
		return nil, errors.New("thunder: the group was shrunk already; shrink the new one")
	}
	return sh, nil
}

// of returns the agreement of a group, nil if none has begun.
func (a *agreements) of(id uint32) *shrinking {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.list[id]
}

// poke makes all agreements look again at which ranks are gone.
func (a *agreements) poke() {
	a.mu.Lock()
	list := slices.Collect(maps.Values(a.list))
	a.mu.Unlock()
	for _, s := range list {
		s.poke()
	}
}

// poke makes the agreement look again at which ranks are gone.
func (s *shrinking) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// gone returns the ranks of the group that have left or died.
func (s *shrinking) gone() (set membership.Set) {
	for r, world := range s.group.Ranks() {
		if world != s.session.cfg.Rank && s.session.control.gone(world) != nil {
			set.Add(r)
		}
	}
	return set
}

// run takes part until there is a decision.
func (s *shrinking) run(ctx context.Context) (membership.Set, error) {
	j, begun := s.session, time.Now()
	ctx, cancel := context.WithTimeout(ctx, j.cfg.Timeout)
	defer cancel()
	tick := time.NewTicker(shrinkEvery)
	defer tick.Stop()
	for {
		var set membership.Set
		var done, hopeless bool
		gone := s.gone()
		s.do(func(m *membership.Machine) {
			for _, r := range gone.Ranks() {
				m.Gone(r)
			}
			m.Tick()
			hopeless = m.Hopeless()
			if set, done = m.Decided(); done && set.Has(s.group.Rank()) {
				s.used = true
			}
		})
		switch {
		case done && !set.Has(s.group.Rank()):
			return set, &failure.PeerLostError{Rank: j.cfg.Rank, Host: j.host(j.cfg.Rank), Link: j.cfg.LinkName(j.cfg.Rank), Cause: "the other ranks went on without it"}
		case done:
			return set, nil
		case hopeless:
			return set, &failure.QuorumError{Left: len(s.group.Ranks()) - gone.Len(), Size: len(s.group.Ranks())}
		case j.expelled(s.group) != nil:
			return set, j.expelled(s.group)
		}
		select {
		case <-tick.C:
		case <-s.wake:
		case <-j.ctx.Done():
			return set, &failure.ClosedError{}
		case <-ctx.Done():
			return set, s.late(context.Cause(ctx), begun)
		}
	}
}

// late returns the error of an agreement that took too long.
func (s *shrinking) late(cause error, begun time.Time) error {
	j := s.session
	if !errors.Is(cause, context.DeadlineExceeded) {
		return &failure.AbortError{Rank: j.cfg.Rank, Reason: fmt.Sprintf("shrink was cancelled: %v", cause), Err: cause}
	}
	e := &failure.TimeoutError{Rank: j.cfg.Rank, Operation: "shrink", After: time.Since(begun)}
	s.do(func(m *membership.Machine) {
		for _, r := range m.Waiting() {
			e.Missing = append(e.Missing, fmt.Sprintf("rank %d has not called shrink", s.group.Ranks()[r]))
		}
	})
	return e
}

// do uses the machine and sends the messages that it produces.
func (s *shrinking) do(f func(*membership.Machine)) {
	s.mu.Lock()
	f(s.machine)
	out := s.machine.Take()
	s.mu.Unlock()
	j := s.session
	for _, m := range out {
		j.control.tell(j.control.peers[s.group.Ranks()[m.To]], noticeOfMember(s.group.ID(), &m))
	}
}

// hearMember takes a step of an agreement. One that has not begun here is asked
// about again.
func (s *Session) hearMember(p *peer, n *notice) {
	if s.alive.isDead(p.rank) {
		s.control.deliver(p, &notice{kind: noticeLost, group: WorldID, rankA: uint32(p.rank), text: "the other ranks took it for dead"})
		return
	}
	sh := s.shrinks.of(n.group)
	if sh == nil {
		return
	}
	from := slices.Index(sh.group.Ranks(), p.rank)
	if from < 0 {
		return
	}
	m := n.member()
	m.From, m.To = from, sh.group.Rank()
	if !m.Set.Within(len(sh.group.Ranks())) {
		return
	}
	sh.do(func(machine *membership.Machine) { machine.Step(m) })
	sh.poke()
}
