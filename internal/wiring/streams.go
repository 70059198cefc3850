package wiring

import (
	"cmp"
	"fmt"
	"slices"

	"thundercollective/internal/provider/rails"
	"thundercollective/internal/provider/stream"
	"thundercollective/internal/rendezvous"
	"thundercollective/internal/rendezvous/handshake"
)

// streamCables returns the cables from this rank that carry USB4 streams, by the rank
// at their other end; nil if there are none. One that was declared has to be there
// when a job begins; a job that begins again makes do without.
func streamCables(roster *rendezvous.Roster, o Config) ([][]stream.Config, error) {
	var list [][]stream.Config
	me := roster.Rank
	for _, e := range roster.Edges {
		near, far, peer := e.ServiceA, e.ServiceB, e.B
		if e.B == me {
			near, far, peer = far, near, e.A
		}
		if !e.Stream() || e.A != me && e.B != me {
			continue
		}
		here, there := roster.Peers[me].Host, roster.Peers[peer].Host
		what := fmt.Sprintf("the cable %s/%s=%s/%s of rank %d and rank %d", here, near, there, far, me, peer)
		if isNear(roster, peer) {
			return nil, fmt.Errorf("%s joins %s with itself", what, here)
		}
		if err := stream.Check(o.USB4, near); err != nil {
			if roster.Generation == 0 {
				return nil, fmt.Errorf("%s: %w; or leave it out of the edges", what, err)
			}
			o.Logger.Warn("USB4 stream cable is not there, going on without it", "cable", what, "err", err)
		}
		if list == nil {
			list = make([][]stream.Config, roster.Size())
		}
		list[peer] = append(list[peer], stream.Config{
			Service: near, Near: endName(me, near), Far: endName(peer, far), First: me > peer,
			Hello: handshake.Hello{
				Generation: roster.Generation, Size: uint32(roster.Size()),
				From: uint32(max(me, peer)), To: uint32(min(me, peer)),
			},
			Token: o.Token, System: o.USB4,
		})
	}
	for _, cables := range list {
		// The same order at both ends, whatever that of their lists.
		slices.SortFunc(cables, func(a, b stream.Config) int {
			return cmp.Compare(min(a.Near+" "+a.Far, a.Far+" "+a.Near), min(b.Near+" "+b.Far, b.Far+" "+b.Near))
		})
	}
	return list, nil
}

// besideAddresses makes sure that a cable for streams joins ranks which are joined
// by addresses too: connections are made, and peers watched, over TCP.
func besideAddresses(roster *rendezvous.Roster, e rendezvous.Edge) error {
	if !e.Stream() || slices.ContainsFunc(roster.Edges, func(o rendezvous.Edge) bool {
		return !o.Stream() && min(o.A, o.B) == min(e.A, e.B) && max(o.A, o.B) == max(e.A, e.B)
	}) {
		return nil
	}
	return fmt.Errorf("rank %d on %s and rank %d on %s are joined by USB4 streams alone (%s to %s); streams come on top of TCP, "+
		"so add the edge %d-%d, and addresses for it", e.A, roster.Peers[e.A].Host, e.B, roster.Peers[e.B].Host,
		e.ServiceA, e.ServiceB, e.A, e.B)
}

// endName names an end of a stream cable as --edges does.
func endName(rank int, service string) string { return fmt.Sprintf("%d/%s", rank, service) }

// streamRails returns the rails over USB4 streams to a peer.
func (w *Wiring) streamRails(peer int) []rails.Rail {
	if w.streams == nil {
		return nil
	}
	var list []rails.Rail
	for _, cfg := range w.streams[peer] {
		list = append(list, stream.Rail(cfg))
	}
	return list
}
