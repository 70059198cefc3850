package thunder

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"thundercollective/fabric"
)

// setFailure records why the group is of no more use; false if it knew already.
func (c *Comm) setFailure(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure != nil {
		return false
	}
	c.failure = err
	c.failed.Store(true)
	return true
}

// fail ends the group at this rank: calls under way return err.
func (c *Comm) fail(err error) {
	if c.setFailure(err) {
		c.finish(err)
	}
}

// finish makes calls under way return the failure that was set.
func (c *Comm) finish(err error) {
	c.record(err)
	c.stop(err)
}

// failAll ends the group at all ranks. The others are told before any call here
// returns, since the program may end right after that.
func (c *Comm) failAll(err error) {
	if c.setFailure(err) {
		c.job.announce(c, err)
		c.finish(err)
	}
}

// record has the flight recorder written, the launcher told, and the failure logged,
// before calls return: the program may end right after.
func (c *Comm) record(err error) {
	if _, closed := err.(*ClosedError); closed {
		return
	}
	c.job.log.Info("group failed", "group", c.id, "size", len(c.ranks), "err", err)
	c.job.meters.noteFailure(err)
	c.job.blame(err)
	c.job.dump(err.Error())
}

// explain turns the error of an operation into what it means, and ends the group
// with it.
func (c *Comm) explain(err error, a call) error {
	var lost *fabric.LostError
	var tag *fabric.TagError
	switch {
	case c.Err() != nil:
	case errors.As(err, &lost):
		c.verdict(lost)
	case errors.As(err, &tag):
		c.failAll(c.mismatch(tag, a))
	case errors.Is(err, fabric.ErrClosed):
		c.fail(&ClosedError{})
	default:
		c.failAll(&AbortError{Rank: c.job.rank, Reason: fmt.Sprintf("%v failed: %v", a, err), Err: err})
	}
	return c.Err()
}

// verdict ends the group after a path to a peer broke. The peer may have died, or
// have given up because of another rank's death; it says so on the control
// channel, so wait for that before accusing it.
func (c *Comm) verdict(lost *fabric.LostError) {
	j, rank := c.job, lost.Peer
	p := j.peers[rank]
	if c.id != worldID {
		// It may be well and have closed this group only; asked for an operation
		// that it cannot have come to, it says so.
		j.tellRanks([]int{rank}, &notice{kind: noticeWhere, group: c.id, seq: math.MaxUint64})
	}
	c.await(j.ctx, patience, p.left)
	if c.Err() != nil {
		return
	}
	if j.gone(rank) == errGoodbye {
		c.failAll(&PeerLostError{Rank: rank, Host: j.host(rank), Link: j.linkName(rank), Cause: errGoodbye.Error(), Left: true, Err: lost})
		return
	}
	if r := j.relayGone(rank); r >= 0 {
		c.relayLost(r, rank, lost)
		return
	}
	p.mu.Lock()
	if p.seen == nil {
		p.seen = lost
	}
	p.mu.Unlock()
	j.accuse(rank, "the connection to it broke ("+lost.Err.Error()+")")
	c.await(j.ctx, j.alive.cfg.Timeout, nil)
	if c.Err() == nil { // the verdict fell on a rank that this group does not have
		c.failAll(&AbortError{Rank: j.rank, Reason: fmt.Sprintf("it lost its connection to rank %d: %v", rank, lost.Err), Err: lost})
	}
}

// giveUp ends the group because the context of operation a had ended before it
// began: the other ranks would wait for this one.
func (c *Comm) giveUp(ctx context.Context, a call) error {
	c.failAll(c.ended(context.Cause(ctx), a, time.Now()))
	return c.Err()
}

// ended is the error of an operation whose context ended.
func (c *Comm) ended(cause error, a call, since time.Time) error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return c.timeout(a, since)
	}
	return &AbortError{Rank: c.job.rank, Reason: fmt.Sprintf("%v was cancelled: %v", a, cause), Err: cause}
}

func (c *Comm) timeout(a call, since time.Time) error {
	return &TimeoutError{
		Rank: c.job.rank, Operation: fmt.Sprintf("%v, #%d", a, a.seq),
		After: time.Since(since), Missing: c.missing(a),
	}
}

// mismatch says who called what.
func (c *Comm) mismatch(e *fabric.TagError, a call) error {
	theirs := callOf(&e.Got)
	m := &MismatchError{Sequence: a.seq, RankA: c.job.rank, RankB: e.Peer, CallA: a.String(), CallB: theirs.String()}
	switch {
	case e.Want == e.Got:
		m.CallA += fmt.Sprintf(" with %d bytes here", e.WantLen)
		m.CallB += fmt.Sprintf(" with %d bytes here", e.GotLen)
	case theirs.seq != a.seq:
		m.CallB += fmt.Sprintf(" as its #%d", theirs.seq)
	}
	return m
}

// compare is asked by a peer that waits in a collective: did this rank call the
// same? A difference ends the group everywhere.
func (c *Comm) compare(peer int, seq uint64, theirs *fabric.Tag) {
	mine, ok := c.current.recorded(seq)
	if !ok || mine == *theirs {
		return
	}
	// A rank that has not chosen an algorithm yet does not disagree about it.
	a, b := callOf(&mine), callOf(theirs)
	if a.algo == Auto || b.algo == Auto {
		if a.algo = b.algo; a == b {
			return
		}
	}
	c.failAll(&MismatchError{
		Sequence: seq, RankA: c.job.rank, RankB: peer,
		CallA: callOf(&mine).String(), CallB: callOf(theirs).String(),
	})
}

// missing describes the ranks that are not in operation a, by what they last said.
func (c *Comm) missing(a call) []string {
	if a.kind.PointToPoint() {
		return nil
	}
	var list []string
	for _, world := range c.ranks {
		if world == c.job.rank {
			continue
		}
		seq, tag, known := c.job.peers[world].where(c.id)
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
