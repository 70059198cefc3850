package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/failure"
)

const (
	// patience is how long a rank that lost its data path to a peer waits for the control
	// channel to say what became of that peer before it accuses it.
	patience = 250 * time.Millisecond
	// relayTime is how long the end of a relayed connection waits to be explained by the
	// end of a relay.
	relayTime = 300 * time.Millisecond
)

// errGone ends the wait for a rank that has left.
var errGone = errors.New("it has left")

// Link opens a link to a rank for a group, and does not wait for a rank that has left.
// What that rank had opened before is still here, or about to be, with what it had sent.
func (s *Session) Link(ctx context.Context, rank int, ch fabric.Channel) (fabric.Link, error) {
	present, cancel := context.WithCancelCause(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		select {
		case <-present.Done():
			return
		case <-s.control.peers[rank].left:
		}
		select {
		case <-present.Done():
		case <-time.After(patience):
			cancel(errGone)
		}
	})
	defer watcher.Wait()
	defer cancel(nil)
	l, err := s.cfg.Fabric.Link(present, rank, ch)
	if err != nil && errors.Is(context.Cause(present), errGone) {
		return nil, &fabric.LostError{Peer: rank, Err: s.control.gone(rank)}
	}
	return l, err
}

// PathBroken ends a group after a path to a peer broke. The peer may have died, or have
// given up because of another rank's death; it says so on the control channel, so wait
// for that before accusing it.
func (s *Session) PathBroken(id uint32, lost *fabric.LostError) {
	g := s.groups.get(id)
	if g == nil {
		return // it is closed
	}
	rank := lost.Peer
	p := s.control.peers[rank]
	if id != WorldID {
		// It may be well and have closed this group only; asked for an operation that it
		// cannot have come to, it says so.
		s.control.tellRanks([]int{rank}, &notice{kind: noticeWhere, group: id, seq: math.MaxUint64})
	}
	s.await(g, patience, p.left)
	if g.Err() != nil {
		return
	}
	if s.control.gone(rank) == errGoodbye {
		s.failAll(g, &failure.PeerLostError{Rank: rank, Host: s.host(rank), Link: s.cfg.LinkName(rank), Cause: errGoodbye.Error(), Left: true, Err: lost})
		return
	}
	if r := s.relayGone(rank); r >= 0 {
		s.relayLost(g, r, rank, lost)
		return
	}
	p.saw(lost)
	s.alive.accuse(rank, "the connection to it broke ("+lost.Err.Error()+")")
	s.await(g, s.alive.cfg.Timeout, nil)
	if g.Err() == nil { // the verdict fell on a rank that this group does not have
		s.failAll(g, &failure.AbortError{Rank: s.cfg.Rank, Reason: fmt.Sprintf("it lost its connection to rank %d: %v", rank, lost.Err), Err: lost})
	}
}

// await waits until the group has failed, but no longer than d, nor after or is closed.
func (s *Session) await(g Group, d time.Duration, or <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-g.Done():
	case <-or:
	case <-s.ctx.Done():
	case <-timer.C:
	}
}

// relayGone returns the relay whose leaving explains that the connection to a peer
// ended; -1 if there is none.
func (s *Session) relayGone(peer int) int {
	relays := s.cfg.Relays(peer)
	if len(relays) == 0 {
		return -1
	}
	timer := time.NewTimer(relayTime)
	defer timer.Stop()
	for _, r := range relays {
		select {
		case <-s.control.peers[r].left:
			return r
		case <-timer.C:
			timer.Reset(0)
		case <-s.ctx.Done():
			return -1
		}
	}
	return -1
}

// relayLost ends the group because the rank is gone that passed on what went to a peer,
// of which nothing is known. Where the group has that rank, it is being judged.
func (s *Session) relayLost(g Group, relay, peer int, lost *fabric.LostError) {
	why := s.control.gone(relay)
	if why != errGoodbye && slices.Contains(g.Ranks(), relay) {
		s.await(g, s.alive.cfg.Timeout, nil)
	}
	if g.Err() == nil {
		s.failAll(g, &failure.PeerLostError{
			Rank: relay, Host: s.host(relay), Link: s.cfg.LinkName(relay), Left: why == errGoodbye, Err: lost,
			Cause: fmt.Sprintf("%v; what goes to rank %d on %s has to pass through it", why, peer, s.host(peer)),
		})
	}
}

// AskWhere asks ranks which operation of a group they are in: this rank waits in
// operation seq with tag.
func (s *Session) AskWhere(id uint32, ranks []int, seq uint64, tag *fabric.Tag) {
	n := &notice{kind: noticeWhere, group: id, seq: seq, tagA: *tag}
	for _, r := range ranks {
		if p := s.control.peers[r]; p != nil {
			s.control.tell(p, n)
		}
	}
}

// Where returns the operation of a group in which a rank last said it was.
func (s *Session) Where(rank int, id uint32) (seq uint64, tag fabric.Tag, known bool) {
	return s.control.peers[rank].where(id)
}
