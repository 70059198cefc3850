package group

import (
	"context"
	"errors"
	"fmt"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
	"thundercollective/internal/failure"
)

// fail ends the group at this rank: calls under way return err.
func (g *Group) fail(err error) {
	if g.SetFailure(err) {
		g.Finish(err)
	}
}

// Finish makes calls under way return the failure that was set.
func (g *Group) Finish(err error) {
	if _, closed := err.(*failure.ClosedError); !closed {
		g.cfg.Failed(err)
	}
	g.stop(err)
}

// FailAll ends the group at all ranks. The others are told before any call here
// returns, since the program may end right after that.
func (g *Group) FailAll(err error) {
	if g.SetFailure(err) {
		g.cfg.Session.Announce(g.cfg.ID, g.cfg.Ranks, err)
		g.Finish(err)
	}
}

// explain turns the error of an operation into what it means, and ends the group
// with it.
func (g *Group) explain(err error, a call) error {
	var lost *fabric.LostError
	var tag *fabric.TagError
	switch {
	case g.Err() != nil:
	case errors.As(err, &lost):
		g.cfg.Session.PathBroken(g.cfg.ID, lost)
	case errors.As(err, &tag):
		g.FailAll(mismatch(g.self, tag, a))
	case errors.Is(err, fabric.ErrClosed):
		g.fail(&failure.ClosedError{})
	default:
		g.FailAll(&failure.AbortError{Rank: g.self, Reason: fmt.Sprintf("%v failed: %v", a, err), Err: err})
	}
	return g.Err()
}

// giveUp ends the group because the context of operation a had ended before it
// began: the other ranks would wait for this one.
func (g *Group) giveUp(ctx context.Context, a call) error {
	g.FailAll(g.ended(context.Cause(ctx), a, time.Now()))
	return g.Err()
}

// ended is the error of an operation whose context ended.
func (g *Group) ended(cause error, a call, since time.Time) error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return g.timeout(a, since)
	}
	return &failure.AbortError{Rank: g.self, Reason: fmt.Sprintf("%v was cancelled: %v", a, cause), Err: cause}
}

func (g *Group) timeout(a call, since time.Time) error {
	return &failure.TimeoutError{
		Rank: g.self, Operation: fmt.Sprintf("%v, #%d", a, a.seq),
		After: time.Since(since), Missing: g.missing(a),
	}
}

// mismatch returns the error that names who called what; self is this rank.
func mismatch(self int, e *fabric.TagError, a call) error {
	theirs := callOf(&e.Got)
	m := &failure.MismatchError{Sequence: a.seq, RankA: self, RankB: e.Peer, CallA: a.String(), CallB: theirs.String()}
	switch {
	case e.Want == e.Got:
		m.CallA += fmt.Sprintf(" with %d bytes here", e.WantLen)
		m.CallB += fmt.Sprintf(" with %d bytes here", e.GotLen)
	case theirs.seq != a.seq:
		m.CallB += fmt.Sprintf(" as its #%d", theirs.seq)
	}
	return m
}

// Compare compares what this rank called as operation seq with what a peer called that
// waits in it. It returns nil if they agree or it is not known.
func (g *Group) Compare(peer int, seq uint64, theirs *fabric.Tag) error {
	mine, ok := g.current.recorded(seq)
	if !ok || mine == *theirs {
		return nil
	}
	// A rank that has not chosen an algorithm yet does not disagree about it.
	a, b := callOf(&mine), callOf(theirs)
	if a.algo == collective.Auto || b.algo == collective.Auto {
		if a.algo = b.algo; a == b {
			return nil
		}
	}
	return &failure.MismatchError{
		Sequence: seq, RankA: g.self, RankB: peer,
		CallA: callOf(&mine).String(), CallB: callOf(theirs).String(),
	}
}

// Latest returns the number and the tag of the last collective begun.
func (g *Group) Latest() (uint64, fabric.Tag) { return g.current.latest() }

// missing describes the ranks that are not in operation a, by what they last said.
func (g *Group) missing(a call) []string {
	if a.kind.PointToPoint() {
		return nil
	}
	var list []string
	for _, world := range g.cfg.Ranks {
		if world == g.self {
			continue
		}
		seq, tag, known := g.cfg.Session.Where(world, g.cfg.ID)
		switch {
		case !known:
			list = append(list, fmt.Sprintf("rank %d has not said where it is", world))
		case seq == 0:
			list = append(list, fmt.Sprintf("rank %d has not called anything in this group", world))
		case seq < a.seq:
			list = append(list, fmt.Sprintf("rank %d has not arrived, its last was %v, #%d", world, callOf(&tag), seq))
		}
	}
	return list
}
