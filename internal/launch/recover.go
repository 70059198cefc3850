package launch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"thundercollective/internal/launch/wire"
)

// DefaultReformWait is how long the remaining ranks may take to ask for the next generation
// after one has died.
const DefaultReformWait = 10 * time.Second

// A recovery is the time between the death of a rank and its restart. The other ranks
// decide whether they survive: a program that calls Comm.Reform asks the job's coordinator
// for the next generation, and the agent that serves it reports this. When every rank has
// either ended or asked, those that ended are restarted. A program that does not re-form
// fails when a peer is lost, or is ended with the recovery; then all ranks are restarted.
type recovery struct {
	timer <-chan time.Time
	late  bool       // the time to ask has passed
	next  *wire.Next // the coordinator's answer; nil until it arrives
}

// A reaction is what follows from a failure.
type reaction int

const (
	carryOn reaction = iota // leave the running ranks alone
	endSoon                 // give them the linger to end on their own
	endNow
)

// late returns the channel that fires at the end of a recovery; nil without one.
func (g *generation) late() <-chan time.Time {
	if g.recovery == nil {
		return nil
	}
	return g.recovery.timer
}

// react decides what to do about the failure g.first. It is called until the job ends or
// has recovered.
func (g *generation) react() reaction {
	server := g.agents[g.place.Ranks[0].Machine]
	_, died := errors.AsType[*RankError](g.first)
	if !died || g.cfg.RestartAll || g.left() == 0 || server == nil {
		g.recovery = nil
		return endSoon
	}
	if g.recovery == nil {
		g.recovery = &recovery{timer: time.After(g.cfg.ReformWait)}
		g.senders.Go(func() { server.Send(wire.KindNext, 0, nil) })
	}
	r := g.recovery
	if r.next == nil && !r.late {
		return carryOn
	}
	var ended, waiting []int // ranks that asked are in neither list
	for rank := range g.ranks {
		switch {
		case g.ranks[rank].ended:
			ended = append(ended, rank)
		case r.next == nil || g.ranks[rank].asked < r.next.Generation:
			waiting = append(waiting, rank)
		}
	}
	switch {
	case g.lost(): // as well as ranks that neither ended nor asked
		return endNow
	case r.next != nil && !r.next.Met:
		// A program that has not met the others yet, or never does.
		return endSoon
	case len(ended) == len(g.ranks):
		return carryOn // all ranks are about to be gone
	case len(waiting) == 0:
		return g.startAgain(ended, r.next.Generation)
	case r.late:
		g.printer.Note("%s did not re-form within %v", ranks(waiting), g.cfg.ReformWait)
		return endNow
	}
	return carryOn
}

// lost reports whether a machine was lost.
func (g *generation) lost() bool {
	for _, a := range g.agents {
		if a == nil {
			return true
		}
	}
	return false
}

// startAgain restarts the ranks that ended, in the generation in which the others wait for
// them.
func (g *generation) startAgain(ended []int, generation uint32) reaction {
	g.first = g.culprit(g.first)
	first, _ := errors.AsType[*RankError](g.first)
	g.reportRank(first, g.printer.Tail(first.Rank))
	for _, rank := range ended {
		if rank != first.Rank {
			g.printer.Note("rank %d on %s %s", rank, machineOf(g.place, rank), g.fate(rank))
		}
	}
	g.restarts++
	var living []int
	for rank := range g.ranks {
		if !slices.Contains(ended, rank) {
			living = append(living, rank)
		}
	}
	g.printer.Note("restart %d of %d: %s again in generation %d; %s running", g.restarts, g.cfg.Restarts,
		verb(ended, "starts", "start"), generation, verb(living, "keeps", "keep"))
	g.first, g.recovery, g.latest = nil, nil, max(g.latest, generation)
	for _, rank := range ended {
		if err := g.printer.Restart(rank, g.restarts); err != nil {
			g.fail(err)
			return endNow
		}
		g.ranks[rank] = rankState{}
	}
	if err := g.startRanks(ended); err != nil {
		g.fail(err)
		return endNow
	}
	return carryOn
}

func verb(list []int, one, many string) string {
	if len(list) == 1 {
		many = one
	}
	return ranks(list) + " " + many
}

// ranks lists ranks in words: "ranks 0, 1 and 3".
func ranks(list []int) string {
	if len(list) == 1 {
		return fmt.Sprintf("rank %d", list[0])
	}
	var words []string
	for _, r := range list {
		words = append(words, fmt.Sprint(r))
	}
	last := len(words) - 1
	return "ranks " + strings.Join(words[:last], ", ") + " and " + words[last]
}
