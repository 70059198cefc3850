package group

import (
	"context"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
	"thundercollective/internal/failure"
	"thundercollective/internal/hugepages"
	"thundercollective/internal/recorder"
	"thundercollective/internal/telemetry"
	"thundercollective/internal/ticks"
	"thundercollective/internal/tuning"
)

// A Session is what a group needs of the job that it is a part of. Ranks are those of
// the job.
type Session interface {
	// Link opens a link to a rank.
	Link(ctx context.Context, rank int, ch fabric.Channel) (fabric.Link, error)
	// Announce tells the ranks of a group why it ended.
	Announce(id uint32, ranks []int, err error)
	// PathBroken finds out what became of a peer to which the path broke, and ends the
	// group with that.
	PathBroken(id uint32, lost *fabric.LostError)
	// AskWhere asks ranks where they are in a group; Where returns what one of them last
	// said.
	AskWhere(id uint32, ranks []int, seq uint64, tag *fabric.Tag)
	Where(rank int, id uint32) (seq uint64, tag fabric.Tag, known bool)
}

// Config describes a group.
type Config struct {
	ID         uint32
	Generation uint32
	Ranks      []int // ranks of the job, by rank in the group
	Rank       int   // this process in the group

	Fabric  fabric.Fabric // nil for a rank that is alone
	Session Session
	Hosts   *collective.Hosts
	Cables  *collective.Cables // nil if any two ranks are joined
	Crowded bool               // more ranks than processors on this machine

	Tuning      *tuning.Job
	Timeout     time.Duration
	NoHugePages bool
	History     int // how many operations the flight recorder holds

	Clock  *ticks.Clock
	Meters *telemetry.Job
	// Failed is called when the group has failed, before calls under way return.
	Failed func(err error)
}

// A Group is the operations of one group of ranks, at this rank.
type Group struct {
	cfg  Config
	self int // rank of this process in the job

	ctx  context.Context // of all operations; ends with the failure as its cause
	stop context.CancelCauseFunc

	turn    queue
	plans   plans
	chooser tuning.Chooser // under turn
	exec    *collective.Executor
	tag     fabric.Tag // of the operation, under turn
	census  census     // under turn
	pages   hugepages.Adviser
	links   links // of collectives
	current activity
	meter   telemetry.Meter // under turn
	pairs   pairs           // point-to-point messages

	outcome
}

// New makes a group.
func New(cfg Config) *Group {
	n := len(cfg.Ranks)
	g := &Group{cfg: cfg, self: cfg.Ranks[cfg.Rank]}
	g.ctx, g.stop = context.WithCancelCause(context.Background())
	g.chooser = tuning.Chooser{Size: n, Hosts: cfg.Hosts, Cables: cfg.Cables != nil, Segment: cfg.Tuning.Segment}
	g.current.past.Store(recorder.NewRing(cfg.History))
	g.pages.Off = cfg.NoHugePages
	g.census.group = g
	g.pairs.init(g)
	g.links = links{group: g, channel: channelOf(cfg.ID, false), links: make([]fabric.Link, n)}
	if n > 1 {
		g.plans.planner = collective.NewPlanner()
	}
	g.exec = collective.NewExecutor(cfg.Rank, n, &g.links, g.links.failed)
	return g
}

// channelOf returns the fabric channel of a group's collectives, or that of its
// point-to-point messages.
func channelOf(id uint32, pairs bool) fabric.Channel {
	if pairs {
		return fabric.Channel(2*id + 1)
	}
	return fabric.Channel(2 * id)
}

// MaxID is the greatest number of a group: each uses two channels.
const MaxID = uint32(fabric.FirstReservedChannel)/2 - 1

// ID returns the group's number in the job.
func (g *Group) ID() uint32 { return g.cfg.ID }

// Rank returns this process's place in the group.
func (g *Group) Rank() int { return g.cfg.Rank }

// Size returns the number of ranks.
func (g *Group) Size() int { return len(g.cfg.Ranks) }

// Ranks returns the ranks of the job, by rank in the group. It must not be written.
func (g *Group) Ranks() []int { return g.cfg.Ranks }

// Done is closed when calls under way have been told to return.
func (g *Group) Done() <-chan struct{} { return g.ctx.Done() }

// Meter returns what the group counts.
func (g *Group) Meter() *telemetry.Meter { return &g.meter }

// Drain ends the group at this rank and returns when no operation uses it any more;
// Release comes next.
func (g *Group) Drain() {
	g.fail(&failure.ClosedError{})
	g.turn.enterAndWait()
}

// Release gives back what operations of the group used.
func (g *Group) Release() {
	defer g.turn.leave()
	g.exec.Close()
	g.current.release()
	g.links.close()
	g.pairs.release()
}
