package thunder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
	"thundercollective/internal/group"
	"thundercollective/internal/metrics"
	"thundercollective/internal/rendezvous"
	"thundercollective/internal/session"
	"thundercollective/internal/sysmem"
	"thundercollective/internal/telemetry"
	"thundercollective/internal/ticks"
	"thundercollective/internal/tuning"
	"thundercollective/internal/wiring"
)

// A job is what all groups of this process have in common.
type job struct {
	session   *session.Session
	telemetry *telemetry.Job
	tuning    tuning.Job
	wiring    *wiring.Wiring // nil for Local, and for a rank that is alone
	fabric    fabric.Fabric  // nil for a rank that is alone
	alone     sysmem.Pages   // memory of a rank that is

	rank        int
	generation  uint32
	hosts       []string // by rank: its name for its machine
	machines    []string // by rank: equal for ranks of one machine, and only for them
	crowded     bool     // more ranks than processors on this machine
	timeout     time.Duration
	noHugePages bool
	clock       *ticks.Clock
	log         *slog.Logger

	again func(ctx context.Context, generation uint32) (*Comm, error) // nil where there is no other generation
}

// newJob returns a job with what the options say.
func newJob(o Options, clock *ticks.Clock) *job {
	return &job{
		tuning:  tuning.Job{Algo: o.Tuning.Algo, Calibrate: o.Tuning.Calibrate, Segment: o.Tuning.Segment},
		timeout: o.Timeout, noHugePages: o.Transport.NoHugePages, alone: sysmem.Pages{NoHugePages: o.Transport.NoHugePages}, clock: clock,
	}
}

// sessionConfig describes the job's session. The roster says where the ranks are; nil if
// they are all in this process.
func (j *job) sessionConfig(o Options, roster *rendezvous.Roster) session.Config {
	var addrs [][]string
	if roster != nil {
		for _, p := range roster.Peers {
			addrs = append(addrs, p.Addrs)
		}
	}
	return session.Config{
		Fabric: j.fabric, Rank: j.rank, Hosts: j.hosts, Addrs: addrs, Timeout: j.timeout,
		HeartbeatTimeout: o.heartbeatTimeout(roster), Log: j.log,
		LinkName: func(rank int) string { return j.linkName(rank, addrs) },
		Relays:   func(rank int) []int { return j.wiring.Relays(j.rank, rank) },
		GiveUp:   j.wiring.GiveUp,
	}
}

// start joins the other ranks and returns the group of all of them.
func (j *job) start(ctx context.Context, s *session.Session, o Options, metricsAt string) (*Comm, error) {
	j.session = s
	if err := s.Join(ctx); err != nil {
		return nil, err
	}
	j.telemetry = telemetry.New(telemetry.Config{
		Rank: j.rank, Size: len(j.hosts), Generation: j.generation, Host: j.hosts[j.rank], Fabric: j.fabricName(),
		Clock: j.clock, Log: j.log, DumpDir: o.Diagnostics.DumpDir, Status: s.Status, Rails: j.wiring.Rails,
	})
	everybody := make([]int, len(j.hosts))
	for r := range everybody {
		everybody[r] = r
	}
	world := j.newComm(session.WorldID, everybody, j.rank)
	j.telemetry.Add(world.group)
	s.Start(world.group)
	if metricsAt != "" {
		if err := j.telemetry.ServeMetrics(metricsAt); err != nil {
			j.close()
			return nil, fmt.Errorf("thunder: %w", err)
		}
	}
	return world, nil
}

// newComm makes a group; ranks are ranks of the job.
func (j *job) newComm(id uint32, ranks []int, rank int) *Comm {
	machines := make([]string, len(ranks))
	for i, r := range ranks {
		machines[i] = j.machines[r]
	}
	cables, err := j.wiring.Cables(ranks)
	if err != nil {
		j.log.Warn("cables of a group", "err", err)
	}
	history := group.HistoryGroup
	if id == session.WorldID {
		history = group.HistoryWorld
	}
	return &Comm{job: j, group: group.New(group.Config{
		ID: id, Generation: j.generation, Ranks: ranks, Rank: rank, Fabric: j.fabric, Session: j.session,
		Hosts: collective.NewHosts(machines), Cables: cables, Crowded: j.crowded, Tuning: &j.tuning,
		Timeout: j.timeout, NoHugePages: j.noHugePages, History: history, Clock: j.clock, Meters: j.telemetry,
		Failed: func(err error) { j.failed(id, len(ranks), err) },
	})}
}

// add makes a new group known.
func (j *job) add(c *Comm) (*Comm, error) {
	if err := j.session.Add(c.group); err != nil {
		return nil, err
	}
	j.telemetry.Add(c.group)
	return c, nil
}

// failed has the failure of a group logged and counted, the launcher told, and the flight
// recorder written, before calls return: the program may end right after.
func (j *job) failed(id uint32, size int, err error) {
	j.log.Info("group failed", "group", id, "size", size, "err", err)
	j.telemetry.NoteFailure(err)
	j.session.Blame(err)
	j.telemetry.Dump(err.Error())
}

// linkName describes how a rank is reached.
func (j *job) linkName(rank int, addrs [][]string) string {
	if j.fabric == nil {
		return ""
	}
	s := j.fabric.Name()
	if way := j.wiring.Way(rank); way != "" {
		return s + " " + way
	}
	if rank < len(addrs) && len(addrs[rank]) > 0 {
		s += " " + addrs[rank][0]
	}
	return s
}

// An allocator is where memory of Comm.Alloc comes from.
type allocator interface {
	Alloc(n int) ([]byte, error)
	Free(b []byte) error
}

// memory returns the fabric's memory, or the system's for a rank that is alone.
func (j *job) memory() allocator {
	if j.fabric == nil {
		return &j.alone
	}
	return j.fabric
}

func (j *job) fabricName() string {
	if j.fabric == nil {
		return "none"
	}
	return j.fabric.Name()
}

// close leaves the job.
func (j *job) close() error {
	closed, err := j.session.Close()
	if closed {
		return nil
	}
	return errors.Join(err, j.telemetry.Close())
}

// heartbeatTimeout is how long these ranks may be silent.
func (o Options) heartbeatTimeout(roster *rendezvous.Roster) time.Duration {
	if o.HeartbeatTimeout != 0 {
		return o.HeartbeatTimeout
	}
	if roster == nil || roster.OneMachine() {
		return LocalHeartbeatTimeout
	}
	// Different loopback addresses are listed as different machines, but are none.
	for _, p := range roster.Peers {
		for _, addr := range p.Addrs {
			if at, err := netip.ParseAddrPort(addr); err != nil || !at.Addr().IsLoopback() {
				return DefaultHeartbeatTimeout
			}
		}
	}
	return LocalHeartbeatTimeout
}

// metricsAt is where a rank that is the local-th of its machine serves metrics.
func (o Options) metricsAt(local int) (string, error) {
	if o.Diagnostics.Metrics == "" {
		return "", nil
	}
	at, err := metrics.Addr(o.Diagnostics.Metrics, local)
	if err != nil {
		return "", badOption("THUNDER_METRICS: %w", err)
	}
	return at, nil
}

// hostname names this machine in messages.
func hostname() string {
	h, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return h
}
