package thunder

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"thundercollective/internal/membership"
)

// shrinkEvery is how often ranks that have not answered are asked again: they may
// not have called Shrink yet.
const shrinkEvery = 50 * time.Millisecond

// Shrink makes a group of those that are left of c, in their old order. All
// survivors have to call it, usually after an operation returned a *PeerLostError;
// it ends c where that still works, and returns when every rank of c has called it
// or is known to be gone. All that return a group return the same one, also when
// more ranks die meanwhile, or when some were wrongly taken for dead.
//
// At least half of c's ranks have to be left, with rank 0 among them if it is
// exactly half; else there is a *QuorumError, so that two parts of a job that lost
// each other do not both go on. A rank that the others have given up gets a
// *PeerLostError about itself. A rank that dies at the last moment may still be in
// the new group, which then fails, and can be shrunk in turn.
//
// The new group uses the connections of the old: close it when it is no longer
// needed, and the Comm of Init at the end.
func (c *Comm) Shrink(ctx context.Context) (*Comm, error) {
	if n := len(c.ranks); n > membership.Max {
		return nil, fmt.Errorf("thunder: shrink: a group of %d ranks is too large, the most is %d", n, membership.Max)
	}
	if err := c.expelled(); err != nil {
		return nil, err
	}
	c.failAll(&AbortError{Rank: c.job.rank, Reason: "it shrinks the group"})
	s, err := c.job.agreement(c)
	if err != nil {
		return nil, err
	}
	set, err := s.run(ctx)
	if err != nil {
		return nil, err
	}
	var ranks []int
	for _, r := range set.Ranks() {
		ranks = append(ranks, c.ranks[r])
	}
	g := newComm(c.job, groupID(c.id, math.MaxUint32), ranks, slices.Index(ranks, c.job.rank))
	if err := c.job.add(g); err != nil {
		return nil, err
	}
	c.job.log.Info("group shrunk", "from", len(c.ranks), "to", len(ranks))
	return g, nil
}

// expelled returns why this rank has no part in what is left of the group.
func (c *Comm) expelled() error {
	err := c.Err()
	if lost, ok := errors.AsType[*PeerLostError](err); ok && lost.Rank == c.job.rank {
		return err
	}
	if closed, ok := errors.AsType[*ClosedError](err); ok {
		return closed
	}
	return nil
}

// shrinking is the agreement on who is left of a group. It outlives the call, since
// others may ask for the outcome later.
type shrinking struct {
	comm *Comm
	wake chan struct{}

	mu      sync.Mutex
	machine *membership.Machine
	used    bool // the outcome was returned
}

// agreement returns that of a group, begun if need be.
func (j *job) agreement(c *Comm) (*shrinking, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.agreements[c.id]
	if s == nil {
		s = &shrinking{comm: c, wake: make(chan struct{}, 1)}
		s.machine = membership.New(c.rank, len(c.ranks), s.gone())
		j.agreements[c.id] = s
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used {
		return nil, errors.New("thunder: the group was shrunk already; shrink the new one")
	}
	return s, nil
}

// memberships calls f for every agreement begun at this rank.
func (j *job) memberships(f func(*shrinking)) {
	j.mu.Lock()
	list := make([]*shrinking, 0, len(j.agreements))
	for _, s := range j.agreements {
		list = append(list, s)
	}
	j.mu.Unlock()
	for _, s := range list {
		f(s)
	}
}

// poke has the agreement look at who is gone.
func (s *shrinking) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// gone are the ranks of the group that have left or died.
func (s *shrinking) gone() (set membership.Set) {
	for r, world := range s.comm.ranks {
		if world != s.comm.job.rank && s.comm.job.gone(world) != nil {
			set.Add(r)
		}
	}
	return set
}

// run takes part until there is a decision.
func (s *shrinking) run(ctx context.Context) (membership.Set, error) {
	j, begun := s.comm.job, time.Now()
	ctx, cancel := context.WithTimeout(ctx, j.timeout)
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
			if set, done = m.Decided(); done && set.Has(s.comm.rank) {
				s.used = true
			}
		})
		switch {
		case done && !set.Has(s.comm.rank):
			return set, &PeerLostError{Rank: j.rank, Host: j.host(j.rank), Link: j.linkName(j.rank), Cause: "the other ranks went on without it"}
		case done:
			return set, nil
		case hopeless:
			return set, &QuorumError{Left: len(s.comm.ranks) - gone.Len(), Size: len(s.comm.ranks)}
		case s.comm.expelled() != nil:
			return set, s.comm.expelled()
		}
		select {
		case <-tick.C:
		case <-s.wake:
		case <-j.ctx.Done():
			return set, &ClosedError{}
		case <-ctx.Done():
			return set, s.late(context.Cause(ctx), begun)
		}
	}
}

// late is the error of an agreement that took too long.
func (s *shrinking) late(cause error, begun time.Time) error {
	j := s.comm.job
	if !errors.Is(cause, context.DeadlineExceeded) {
		return &AbortError{Rank: j.rank, Reason: fmt.Sprintf("shrink was cancelled: %v", cause), Err: cause}
	}
	e := &TimeoutError{Rank: j.rank, Operation: "shrink", After: time.Since(begun)}
	s.do(func(m *membership.Machine) {
		for _, r := range m.Waiting() {
			e.Missing = append(e.Missing, fmt.Sprintf("rank %d has not called shrink", s.comm.ranks[r]))
		}
	})
	return e
}

// do uses the machine and sends what it has to say.
func (s *shrinking) do(f func(*membership.Machine)) {
	s.mu.Lock()
	f(s.machine)
	out := s.machine.Take()
	s.mu.Unlock()
	j := s.comm.job
	for _, m := range out {
		j.tell(j.peers[s.comm.ranks[m.To]], noticeOfMember(s.comm.id, &m))
	}
}

// hearMember takes a step of an agreement. One that has not begun here is asked
// about again.
func (j *job) hearMember(p *peer, n *notice) {
	if j.isDead(p.rank) {
		j.deliver(p, &notice{kind: noticeLost, group: worldID, rankA: uint32(p.rank), text: "the other ranks took it for dead"})
		return
	}
	j.mu.Lock()
	s := j.agreements[n.group]
	j.mu.Unlock()
	if s == nil {
		return
	}
	from := slices.Index(s.comm.ranks, p.rank)
	if from < 0 {
		return
	}
	m := n.member()
	m.From, m.To = from, s.comm.rank
	if !m.Set.Within(len(s.comm.ranks)) {
		return
	}
	s.do(func(machine *membership.Machine) { machine.Step(m) })
	s.poke()
}
