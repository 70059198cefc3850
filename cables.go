package thunder

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/cabling"
	"thundercollective/internal/collective"
	"thundercollective/internal/provider/rails"
	"thundercollective/internal/provider/stream"
	"thundercollective/internal/provider/tcp"
	"thundercollective/internal/rendezvous"
)

// wiring is how this rank reaches the others.
type wiring struct {
	graph *cabling.Graph // nil if every rank is joined with every other
	paths [][]tcp.Path   // by rank; nil if there is nothing to choose
	rails *rails.Fabric  // nil if no peer has several rails

	streams [][]stream.Config // by rank: the cables that carry USB4 streams; nil if there are none
}

// wire works out the ways to all peers: over the rails that pair, where they are
// joined, and through others where they are not.
func wire(roster *rendezvous.Roster, cfg rendezvous.Config, o Options) (*wiring, error) {
	w := &wiring{}
	var err error
	if w.streams, err = streamCables(roster, cfg.Token, o); err != nil {
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
		names := make([]string, len(roster.Peers))
		for r, p := range roster.Peers {
			names[r] = p.Host
		}
		var edges []cabling.Edge
		for _, e := range roster.Edges {
			if err := besideAddresses(roster, e); err != nil {
				return nil, err
			}
			edges = append(edges, cabling.Edge{A: e.A, B: e.B, Gbps: e.Gbps})
		}
		if w.graph, err = cabling.New(names, edges); err != nil {
			return nil, err
		}
	}
	return w, w.findPaths(roster)
}

func (w *wiring) findPaths(roster *rendezvous.Roster) error {
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
		case p.Host == roster.Peers[me].Host, len(own) == 1 && len(p.Addrs) == 1:
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

// withInterfaces adds to an error about an address that is on no interface, or does
// not say on which, those that this machine has.
func withInterfaces(err error) error {
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
	return fmt.Errorf("%w; this machine, %s, has %s", err, hostname(), strings.Join(list, ", "))
}

// open makes the fabric over TCP. streams is the number of connections to each peer
// over a single rail, if tc says none.
func (w *wiring) open(ln *tcp.Listener, tc tcp.Config, streams int, hosts []string) (fabric.Fabric, error) {
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

// cables is what collectives of a group have to know about its cables; nil where
// there is nothing to know.
func (j *job) cables(ranks []int) *collective.Cables {
	if j.wiring == nil || j.wiring.graph == nil || len(ranks) < 3 {
		return nil
	}
	g, err := j.wiring.graph.Part(ranks)
	if err != nil {
		j.log.Warn("cables of a group", "err", err)
		return nil
	}
	c := &collective.Cables{}
	c.Ring, _ = g.Ring()
	c.Parent, _ = g.Tree()
	shape, _ := g.Best()
	switch shape {
	case cabling.RingShape:
		c.Large = BiRing
	case cabling.TreeShape:
		c.Large = collective.Cable
	default:
		c.Large = collective.Mesh
	}
	return c
}

// way says how a rank is reached: at which of its addresses, from which interface,
// through whom. It is "" where there was nothing to choose.
func (w *wiring) way(rank int) string {
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

// relayTime is how long the end of a relayed connection waits to be explained by
// the end of a relay.
const relayTime = 300 * time.Millisecond

// relayGone returns the relay whose leaving explains that the connection to a peer
// ended; -1 if there is none.
func (j *job) relayGone(peer int) int {
	if j.wiring == nil || j.wiring.graph == nil {
		return -1
	}
	timer := time.NewTimer(relayTime)
	defer timer.Stop()
	for _, r := range j.wiring.graph.Between(j.rank, peer) {
		select {
		case <-j.peers[r].left:
			return r
		case <-timer.C:
			timer.Reset(0)
		case <-j.ctx.Done():
			return -1
		}
	}
	return -1
}

// relayLost ends the group because the rank is gone that passed on what went to a peer,
// of which nothing is known. Where the group has that rank, it is being judged.
func (c *Comm) relayLost(relay, peer int, lost *fabric.LostError) {
	j := c.job
	why := j.gone(relay)
	if why != errGoodbye && slices.Contains(c.ranks, relay) {
		c.await(j.ctx, j.alive.cfg.Timeout, nil)
	}
	if c.Err() == nil {
		c.failAll(&PeerLostError{
			Rank: relay, Host: j.host(relay), Link: j.linkName(relay), Left: why == errGoodbye, Err: lost,
			Cause: fmt.Sprintf("%v; what goes to rank %d on %s has to pass through it", why, peer, j.host(peer)),
		})
	}
}

// A Rail describes one of several ways to a peer, and what went over it.
type Rail = rails.State

// Rails reports on the rails of this process, to the peers that have more than one.
func (c *Comm) Rails() []Rail { return c.job.rails() }

func (j *job) rails() []Rail {
	if j.wiring == nil || j.wiring.rails == nil {
		return nil
	}
	return j.wiring.rails.Rails()
}
