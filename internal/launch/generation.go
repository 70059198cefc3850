package launch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"thundercollective/internal/launch/environ"
	"thundercollective/internal/launch/hosts"
	"thundercollective/internal/launch/remote"
	"thundercollective/internal/launch/wire"
)

// killAfter is how long agents may take, beyond the grace of their ranks, to report the
// end: first before they are told to kill, and then before they are given up.
const killAfter = 2 * time.Second

// A generation is one start of all ranks. Ranks that die may be restarted within it, while
// the others continue in the job's next generation.
type generation struct {
	*cluster
	number  uint32 // the job's generation that all ranks start in
	latest  uint32 // the job's current generation
	token   string
	program program
	now     <-chan struct{} // closed to kill

	ready   []wire.Ready // by machine
	job     *environ.Job
	started time.Time
	skew    map[int]time.Duration // converts each agent's clock to the time since the start
	ranks   []rankState
	busy    map[int]int // by machine: starts whose ranks are not all gone

	first    error // what ended the job
	recovery *recovery
}

// A rankState is what the launcher knows about a rank.
type rankState struct {
	pid    int
	ended  bool
	ending bool // the job was already being ended when this rank ended
	code   int
	how    string        // "" for success
	at     time.Duration // when it ended, by its agent's clock
	after  time.Duration // the same since the start; see noteClock
	asked  uint32        // the latest generation that it asked the coordinator for
	// blames is the rank that caused it to fail, according to itself; nil if it named none.
	// why is what it said about that rank.
	blames *int
	why    string
}

// prepare makes every machine prepare, and returns when all are ready.
func (g *generation) prepare(ctx context.Context, again []wire.Ready) error {
	hellos := make([]wire.Hello, len(g.agents))
	for m, a := range g.agents {
		hellos[m] = a.Hello
	}
	addrs := g.cfg.addresses(g.place, hellos)
	errs := make(chan error, len(g.agents))
	for m, a := range g.agents {
		p := g.request(m, addrs[m], again)
		g.senders.Go(func() {
			err := a.Send(wire.KindPrepare, 0, p)
			if err == nil && p.Copy {
				err = g.send(a)
			}
			if err != nil {
				errs <- &SetupError{Host: a.Host, Code: 1, Reason: err.Error()}
			}
		})
	}
	return g.collect(ctx, errs)
}

// request returns what machine m is asked for. A later generation finds the files of the
// previous one, except on machines that were lost in between.
func (g *generation) request(m int, addr string, again []wire.Ready) wire.Prepare {
	p := wire.Prepare{
		Program:  g.program.alternatives(g.agents[m].Hello),
		Dir:      g.cfg.Dir,
		Required: g.cfg.Dir != "",
		Copy:     len(g.cfg.Copy) > 0,
		Host:     addr,
		Ports:    g.cfg.ports(g.place, m),
	}
	if p.Dir == "" {
		p.Dir = workingDir()
	}
	if len(again) > 0 && again[m].Dir != "" && p.Copy {
		p.Dir, p.Required, p.Copy = again[m].Dir, true, false
	}
	if !g.place.Machines[m].Local {
		p.Silence = g.cfg.Silence
	}
	if m == g.place.Ranks[0].Machine {
		p.Serve = &wire.Serve{Size: g.place.Size(), Token: g.token, Generation: g.number}
	}
	return p
}

// collect waits for the answers of all machines to Prepare.
func (g *generation) collect(ctx context.Context, failed <-chan error) error {
	g.ready = make([]wire.Ready, len(g.agents))
	for waiting := len(g.agents); waiting > 0; waiting-- {
		var e event
		select {
		case e = <-g.events:
			if e.agent != g.agents[e.machine] {
				waiting++
				continue
			}
		case err := <-failed:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if e.lost != nil {
			g.drop(e.machine)
			return e.lost
		}
		switch e.frame.Kind {
		case wire.KindNext, wire.KindReforming: // from the previous generation
			waiting++
		case wire.KindReady:
			if err := e.frame.Decode(&g.ready[e.machine]); err != nil {
				return err
			}
		case wire.KindFailed:
			var f wire.Failed
			if err := e.frame.Decode(&f); err != nil {
				return err
			}
			return &SetupError{Host: g.place.Machines[e.machine].Name, Code: f.Code, Reason: f.Message}
		default:
			return fmt.Errorf("%s: unexpected frame %q", g.place.Machines[e.machine].Name, e.frame.Kind)
		}
	}
	return nil
}

// start starts the ranks of all machines.
func (g *generation) start() error {
	job := &environ.Job{
		Hosts: g.cfg.Hosts, Place: g.place, Edges: g.cfg.Edges, Served: true, Token: g.token, Generation: g.number,
	}
	if w := g.cfg.Output.Columns; w > 0 {
		job.Columns, job.Lines = max(w-g.printer.Width(), 1), g.cfg.Lines
	}
	hellos := make([]wire.Hello, len(g.agents))
	for m, a := range g.agents {
		hellos[m] = a.Hello
		var ports []string
		for _, p := range g.ready[m].Ports {
			ports = append(ports, strconv.Itoa(p))
		}
		job.Ports = append(job.Ports, ports)
	}
	job.Addrs = g.cfg.addresses(g.place, hellos)
	g.job, g.latest = job, g.number
	g.started = time.Now()
	g.ranks = make([]rankState, g.place.Size())
	g.busy = map[int]int{}
	g.feed.reset()
	all := make([]int, len(g.ranks))
	for rank := range all {
		all[rank] = rank
	}
	return g.startRanks(all)
}

// startRanks starts some of the ranks in the latest generation.
func (g *generation) startRanks(ranks []int) error {
	readers := map[int]*remote.Agent{}
	for m, a := range g.agents {
		var here []int
		for _, rank := range ranks {
			if g.place.Ranks[rank].Machine == m {
				here = append(here, rank)
			}
		}
		if len(here) == 0 {
			continue
		}
		s := g.message(m, here)
		if err := a.Send(wire.KindStart, 0, s); err != nil {
			return &remote.HostError{Host: a.Host, Reason: "lost the agent", Detail: err.Error(), Err: err}
		}
		g.busy[m]++
		for _, rank := range s.Stdin {
			readers[rank] = a
		}
	}
	g.feed.attach(readers)
	return nil
}

// message returns the Start message for machine m.
func (g *generation) message(m int, ranks []int) wire.Start {
	job := *g.job
	job.Generation = g.latest
	s := wire.Start{
		Ranks: ranks, Argv: g.program.argv, Files: job.Files(),
		Linger: g.cfg.Linger, Grace: g.cfg.Grace, Keep: g.cfg.Restarts > 0 && !g.cfg.RestartAll,
	}
	s.Before, s.After = g.program.env(), g.cfg.Env
	if !g.place.Machines[m].Local {
		s.Before = append(s.Before, passedOn()...)
	}
	for _, rank := range s.Ranks {
		s.Env = append(s.Env, job.Rank(rank))
		if g.cfg.Stdin != nil && (rank == 0 || g.cfg.StdinAll) {
			s.Stdin = append(s.Stdin, rank)
		}
	}
	return s
}

// fail records what ended the job; only the first failure counts. Of two ranks that is the
// one that ended first on its machine, even if the report of the other arrives earlier.
func (g *generation) fail(err error) {
	was, isRank := errors.AsType[*RankError](g.first)
	now, alsoRank := errors.AsType[*RankError](err)
	if g.first == nil || isRank && alsoRank && now.After < was.After {
		g.first = err
	}
}

// noteClock estimates an agent's clock from a message that was sent at the given time of
// that clock. The message that was under way for the shortest time gives the best estimate.
// When the estimate improves, earlier ends on that machine are dated again: they keep their
// order and the intervals that the agent saw.
func (g *generation) noteClock(machine int, at time.Duration) {
	d := time.Since(g.started) - at
	if old, known := g.skew[machine]; known && d >= old {
		return
	}
	g.skew[machine] = d
	for rank := range g.ranks {
		if st := &g.ranks[rank]; st.ended && g.place.Ranks[rank].Machine == machine {
			st.after = g.since(machine, st.at)
		}
	}
	if first, ok := errors.AsType[*RankError](g.first); ok {
		first.After = g.ranks[first.Rank].after
	}
}

// since returns how long after the start something happened on a machine.
func (g *generation) since(machine int, at time.Duration) time.Duration {
	return max(0, at+g.skew[machine])
}

func (g *generation) handle(e event) {
	if e.agent != g.agents[e.machine] {
		return
	}
	if e.lost != nil {
		g.drop(e.machine)
		if g.busy[e.machine] > 0 {
			g.fail(e.lost)
		}
		delete(g.busy, e.machine)
		return
	}
	switch e.frame.Kind {
	case wire.KindStarted:
		var s wire.Started
		if e.frame.Decode(&s) == nil {
			g.ranks[e.frame.Rank].pid = s.PID
			g.noteClock(e.machine, s.At)
		}
	case wire.KindExited:
		g.exited(e)
	case wire.KindReforming:
		var r wire.Reforming
		if e.frame.Decode(&r) == nil {
			st := &g.ranks[e.frame.Rank]
			st.asked = max(st.asked, r.Generation)
			g.latest = max(g.latest, r.Generation)
		}
	case wire.KindNext:
		var n wire.Next
		if e.frame.Decode(&n) == nil && g.recovery != nil {
			g.recovery.next = &n
		}
	case wire.KindFinished:
		var f wire.Failed
		if e.frame.Decode(&f) == nil && f.Message != "" {
			g.fail(&SetupError{Host: g.place.Machines[e.machine].Name, Code: f.Code, Reason: f.Message})
		}
		if g.busy[e.machine]--; g.busy[e.machine] <= 0 {
			delete(g.busy, e.machine)
		}
	}
	g.showProgress()
}

func (g *generation) exited(e event) {
	rank := e.frame.Rank
	var x wire.Exited
	if e.frame.Decode(&x) != nil {
		return
	}
	g.feed.detach(rank)
	g.noteClock(e.machine, x.At)
	st := &g.ranks[rank]
	st.ended, st.ending, st.code, st.how, st.blames, st.why = true, x.Ending, x.Code, x.How, x.Blames, x.Why
	st.at, st.after = x.At, g.since(e.machine, x.At)
	if x.How != "" {
		g.fail(&RankError{Rank: rank, Host: g.place.Machines[e.machine].Name, Code: x.Code, How: x.How, After: st.after})
	}
}

// giveUp drops the machines that no longer answer. Their agents notice the end of the
// connection.
func (g *generation) giveUp() {
	for m := range g.busy {
		g.printer.Note("%s does not answer; its ranks will end when they notice", g.place.Machines[m].Name)
		g.drop(m)
		delete(g.busy, m)
	}
}

// machineOf returns the name of a rank's machine.
func machineOf(p hosts.Placement, rank int) string { return p.Machines[p.Ranks[rank].Machine].Name }
