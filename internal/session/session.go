package session

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/liveness"
	"thundercollective/internal/telemetry"
)

// WorldID is the number of the group of all ranks. Groups of Split have greater ones.
const WorldID = 1

// A Group is what a session sees of a group. Methods are safe for concurrent use.
type Group interface {
	ID() uint32
	Ranks() []int // ranks of the job, by rank in the group
	Rank() int    // this process in the group

	// Err returns why the group has ended; nil while it works.
	Err() error
	// SetFailure records why the group ends and reports whether it is the first to do so;
	// Finish then has the calls under way return that error.
	SetFailure(err error) bool
	Finish(err error)
	// Done is closed when calls under way have been told to return.
	Done() <-chan struct{}

	// Compare is asked when a peer waits in operation seq with tag: did this rank call
	// something else? If so, it returns the disagreement.
	Compare(peer int, seq uint64, tag *fabric.Tag) error
	// Latest returns the number and the tag of the last operation begun.
	Latest() (seq uint64, tag fabric.Tag)
	// Check looks at the deadlines of operations, and asks about those that take long.
	Check()

	// Drain ends the group at this rank and returns when no operation uses it; Release
	// then gives back what the operations used.
	Drain()
	Release()
}

// Config describes a session.
type Config struct {
	Fabric  fabric.Fabric // nil for a rank that is alone
	Rank    int
	Hosts   []string   // by rank
	Addrs   [][]string // where each rank listens, by rank; empty where it does not
	Timeout time.Duration

	HeartbeatTimeout time.Duration // after which a silent rank is taken for dead
	Grace            time.Duration // for a rank to be heard of at all

	Log *slog.Logger
	// Joining is told of ranks that are refused; nil if the fabric refuses none.
	Joining *Joining
	// LinkName describes how a rank is reached.
	LinkName func(rank int) string
	// Relays returns the ranks through which messages to a rank pass; nil for none.
	Relays func(rank int) []int
	// GiveUp is called with ranks that are lost, and for which closing the fabric must not
	// wait; nil if it waits for none.
	GiveUp func(rank int)
	// BlameFile is where the launcher reads whom this rank blames; "" for nowhere.
	BlameFile string
}

// A Session is this process's part in a job.
type Session struct {
	cfg     Config
	control control
	joining *Joining
	groups  registry
	alive   *alive
	shrinks agreements

	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// New returns a session that has not met the other ranks yet: see Join.
func New(cfg Config) *Session {
	n := len(cfg.Hosts)
	s := &Session{cfg: cfg, groups: newRegistry(), joining: cmp.Or(cfg.Joining, &Joining{})}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.control = control{self: cfg.Rank, ctx: s.ctx, log: cfg.Log, peers: make([]*peer, n), everybody: make([]int, n)}
	for r := range n {
		s.control.everybody[r] = r
		if r != cfg.Rank {
			s.control.peers[r] = newPeer(r)
		}
	}
	if s.cfg.Relays == nil {
		s.cfg.Relays = func(int) []int { return nil }
	}
	if s.cfg.GiveUp == nil {
		s.cfg.GiveUp = func(int) {}
	}
	s.alive = newAlive(s, liveness.Config{Self: cfg.Rank, Size: n, Timeout: cfg.HeartbeatTimeout, Grace: cfg.Grace})
	return s
}

// Join opens the control channel to every peer, which proves that all of them are there
// and agree on the job. If it fails, the session is closed.
func (s *Session) Join(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		s.regret(err)
		s.Blame(err)
		s.stop()
		s.wg.Wait()
		return err
	}
	return nil
}

// Start begins to listen to the peers and to watch over the groups. world is the group
// of all ranks.
func (s *Session) Start(world Group) {
	s.alive.restart()
	_ = s.Add(world) // nothing can be wrong with the first group
	for _, p := range s.control.peers {
		if p != nil {
			s.wg.Go(func() { s.listen(p) })
			s.wg.Go(func() { s.alive.beat(p) })
		}
	}
	if len(s.control.peers) > 1 {
		s.wg.Go(s.alive.watch)
	}
}

// Close closes all groups, says goodbye, and closes the fabric. closed reports whether
// an earlier call did so.
func (s *Session) Close() (closed bool, err error) {
	if !s.groups.close() {
		return true, nil
	}
	for _, g := range s.groups.all() {
		g.Drain()
		g.Release()
		// A peer that heard our goodbye before the reason for it would blame us.
		s.Announce(g.ID(), g.Ranks(), g.Err())
	}
	s.control.tellAll(&notice{kind: noticeGoodbye})
	s.stop()
	if s.cfg.Fabric != nil {
		err = s.cfg.Fabric.Close()
	}
	s.wg.Wait()
	s.control.tellers.Wait()
	return false, err
}

// Add makes a group known to the control channel. The group fails at once if another
// rank said that it has failed, or if it has ranks that are dead.
func (s *Session) Add(g Group) error {
	failure, err := s.groups.add(g)
	if failure != nil && g.SetFailure(failure) {
		g.Finish(failure)
	}
	return err
}

// Forget is called when a group is closed, before its links are: a peer that loses one
// of those asks.
func (s *Session) Forget(g Group) { s.groups.forget(g) }

// Status returns what is known of the other ranks.
func (s *Session) Status() telemetry.Status {
	status := telemetry.Status{BeatsSent: s.alive.beats.sent.Load(), Received: s.alive.beats.received.Load()}
	for r, p := range s.control.peers {
		if p == nil {
			continue
		}
		state := telemetry.PeerState{Rank: r, Host: s.host(r), Gone: s.control.gone(r)}
		s.alive.with(func(m *liveness.Monitor, now time.Duration) { state.Silent = m.Silent(r, now) })
		status.Peers = append(status.Peers, state)
	}
	return status
}

func (s *Session) host(rank int) string { return s.cfg.Hosts[rank] }

// failGroup ends a group because another rank said so. A group that this rank has yet to
// make fails when it does.
func (s *Session) failGroup(id uint32, err error) {
	if g := s.groups.failed(id, err); g != nil && g.SetFailure(err) {
		g.Finish(err)
	}
}

// failAll ends a group at all ranks. The others are told before any call here returns,
// since the program may end right after that.
func (s *Session) failAll(g Group, err error) {
	if g.SetFailure(err) {
		s.Announce(g.ID(), g.Ranks(), err)
		g.Finish(err)
	}
}

// Announce tells the ranks of a group why it ended.
func (s *Session) Announce(id uint32, ranks []int, err error) {
	if n := noticeOf(id, err); n != nil {
		s.control.tellRanks(ranks, n)
	}
}
