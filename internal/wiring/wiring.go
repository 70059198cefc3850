package wiring

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"thundercollective/fabric"
	"thundercollective/internal/cabling"
	"thundercollective/internal/collective"
	"thundercollective/internal/provider/rails"
	"thundercollective/internal/provider/stream"
	"thundercollective/internal/provider/tcp"
	"thundercollective/internal/rendezvous"
)

// A Wiring is how this rank reaches the others.
type Wiring struct {
	Streams int // TCP connections to each peer

	fabric fabric.Fabric
	graph  *cabling.Graph // nil if every rank is joined with every other
	paths  [][]tcp.Path   // by rank; nil if there is nothing to choose
	rails  *rails.Fabric  // nil if no peer has several rails

	streams [][]stream.Config // by rank: the cables that carry USB4 streams; nil if there are none
}

// wire works out the ways to all peers: over the rails that pair, where they are
// joined, and through others where they are not.
func wire(roster *rendezvous.Roster, o Config) (*Wiring, error) {
	w := &Wiring{}
	var err error
	if w.streams, err = streamCables(roster, o); err != nil {
		return nil, err
	}
	// Streams come on top of addresses, so they alone do not say who is joined.
	cables := slices.ContainsFunc(roster.Edges, func(e rendezvous.Edge) bool { return !e.Stream() })
	several := w.streams != nil
	for _, p := range roster.Peers {
		several = several || len(p.Addrs) > 1
	}
	if !cables && !several {
		return w, nil
	}
	if cables {
		var edges []cabling.Edge
		for _, e := range roster.Edges {
			if err := besideAddresses(roster, e); err != nil {
				return nil, err
			}
			edges = append(edges, cabling.Edge{A: e.A, B: e.B, Gbps: e.Gbps})
		}
		if w.graph, err = cabling.New(roster.Machines(), edges); err != nil {
			return nil, err
		}
	}
	return w, w.findPaths(roster)
}

func (w *Wiring) findPaths(roster *rendezvous.Roster) error {
	me := roster.Rank
	own := roster.Peers[me].Addrs
	ifs, err := tcp.Interfaces()
	if err != nil {
		return err
	}
	found, err := tcp.FindRails(own, ifs)
	if err != nil && len(own) > 1 {
		return fmt.Errorf("rank %d on %s: %w", me, roster.Peers[me].Host, err)
	}
	w.paths = make([][]tcp.Path, len(roster.Peers))
	for r, p := range roster.Peers {
		switch {
		case r == me:
		case w.graph != nil && !w.graph.Joined(me, r):
		case isNear(roster, r), len(own) == 1 && len(p.Addrs) == 1:
			w.paths[r] = []tcp.Path{{Remote: p.Addrs[0]}}
		default:
			w.paths[r] = tcp.Pair(found, p.Addrs, cablesBetween(roster, me, r))
			if len(w.paths[r]) == 0 {
				return unpaired(roster, found, r)
			}
		}
	}
	for r := range roster.Peers {
		if r == me || w.paths[r] != nil {
			continue
		}
		// The streams of a link take turns at the rails to the first relay.
		via := w.graph.Hop(me, r)
		for _, path := range w.paths[via] {
			path.Relay, path.Via = true, via
			w.paths[r] = append(w.paths[r], path)
		}
	}
	return nil
}

// cablesBetween are the cables that were declared by their addresses.
func cablesBetween(roster *rendezvous.Roster, a, b int) map[netip.Addr]netip.Addr {
	var m map[netip.Addr]netip.Addr
	for _, e := range roster.Edges {
		near, far := e.AddrA, e.AddrB
		switch {
		case e.A == b && e.B == a:
			near, far = far, near
		case e.A != a || e.B != b:
			continue
		}
		if near.IsValid() && far.IsValid() {
			if m == nil {
				m = map[netip.Addr]netip.Addr{}
			}
			m[near] = far
		}
	}
	return m
}

func unpaired(roster *rendezvous.Roster, own []tcp.Rail, peer int) error {
	var here []string
	for _, r := range own {
		here = append(here, r.String())
	}
	me := roster.Rank
	return fmt.Errorf("the rails of rank %d on %s (%s) do not pair with those of rank %d on %s (%s): no two are in one subnet; "+
		"correct the addresses, or say with --edges which ranks are joined",
		me, roster.Peers[me].Host, strings.Join(here, ", "), peer, roster.Peers[peer].Host, strings.Join(roster.Peers[peer].Addrs, ", "))
}

// WithInterfaces adds the interfaces of this machine, host, to an error about an address
// that is on none of them, or that does not say on which.
func WithInterfaces(err error, host string) error {
	var addr *rendezvous.AddrError
	if !errors.Is(err, syscall.EADDRNOTAVAIL) && !(errors.As(err, &addr) && strings.Contains(addr.Addr, "fe80:")) {
		return err
	}
	ifs, listErr := tcp.Interfaces()
	if listErr != nil {
		return err
	}
	var list []string
	for _, i := range ifs {
		for _, p := range i.Prefixes {
			list = append(list, fmt.Sprintf("%s on %s", p, i.Name))
		}
	}
	return fmt.Errorf("%w; this machine, %s, has %s", err, host, strings.Join(list, ", "))
}

// open makes the fabric over TCP. streams is the number of connections to each peer
// over a single rail, if tc says none.
func (w *Wiring) open(ln *tcp.Listener, tc tcp.Config, streams int, hosts []string) (fabric.Fabric, error) {
	tc.Paths = w.paths
	if w.streams == nil && !slices.ContainsFunc(w.paths, func(p []tcp.Path) bool { return len(p) > 1 && !p[0].Relay }) {
		tc.Streams = streams
		f, err := tcp.New(ln, tc)
		if err != nil {
			return nil, err // not f: a nil *tcp.Fabric would not be a nil fabric.Fabric
		}
		return f, nil
	}
	f, err := rails.OverTCP(ln, tc, rails.Config{Hosts: hosts, Streams: tc.Streams, Checksum: tc.Checksum, Logger: tc.Logger}, w.streamRails)
	if err != nil {
		return nil, err
	}
	w.rails = f
	return f, nil
}

// Fabric returns what was made.
func (w *Wiring) Fabric() fabric.Fabric { return w.fabric }

// Cables returns what collectives of a group have to know about its cables; nil where
// there is nothing to know.
func (w *Wiring) Cables(ranks []int) (*collective.Cables, error) {
	if w == nil || w.graph == nil || len(ranks) < 3 {
		return nil, nil
	}
	g, err := w.graph.Part(ranks)
	if err != nil {
		return nil, err
	}
	c := &collective.Cables{}
	c.Ring, _ = g.Ring()
	c.Parent, _ = g.Tree()
	shape, _ := g.Best()
	switch shape {
	case cabling.RingShape:
		c.Large = collective.BiRing
	case cabling.TreeShape:
		c.Large = collective.Cable
	default:
		c.Large = collective.Mesh
	}
	return c, nil
}

// Relays returns the ranks through which messages from this rank to another pass; nil
// for none.
func (w *Wiring) Relays(self, peer int) []int {
	if w == nil || w.graph == nil {
		return nil
	}
	return w.graph.Between(self, peer)
}

// Way describes how a rank is reached: at which of its addresses, from which interface,
// through whom. It is "" where there was nothing to choose.
func (w *Wiring) Way(rank int) string {
	if w == nil || rank >= len(w.paths) {
		return ""
	}
	var list []string
	for i := range w.paths[rank] {
		list = append(list, w.paths[rank][i].String())
	}
	if w.streams != nil {
		for _, s := range w.streams[rank] {
			list = append(list, "usb4 "+s.Service)
		}
	}
	return strings.Join(list, ", ")
}

// Rails reports on the rails of this process, to the peers that have more than one.
func (w *Wiring) Rails() []rails.State {
	if w == nil || w.rails == nil {
		return nil
	}
	return w.rails.Rails()
}

// GiveUp tells the rails to a rank that it is lost: closing does not wait for it.
func (w *Wiring) GiveUp(rank int) {
	if w != nil && w.rails != nil {
		w.rails.GiveUp(rank)
	}
}

// OnlyRail has what this process sends to a rank go over one rail alone; a negative rail
// lifts that.
func (w *Wiring) OnlyRail(rank, rail int) error {
	if w == nil || w.rails == nil {
		return fmt.Errorf("rank %d has only one rail", rank)
	}
	return w.rails.Only(rank, rail)
}
