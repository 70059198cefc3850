package topology

import (
	"cmp"
	"slices"

	"thundercollective/internal/topology/probe"
)

// A sighting is what one end reports: this port sees that domain.
type sighting struct {
	end  End
	far  string // domain UUID of the host seen
	name string // what the host calls itself
	via  []string
	gbps float64
	used bool
}

// matchThunderbolt finds cables: pairs of sightings that name each other.
func matchThunderbolt(ms []*probe.Machine) []Cable {
	all := sightings(ms)
	owner := map[string]int{} // domain -> machine
	for i, m := range ms {
		for _, d := range m.Thunderbolt.Domains {
			if d.UUID != "" {
				owner[d.UUID] = i
			}
		}
	}
	var out []Cable
	for i, s := range all {
		if s.used {
			continue
		}
		s.used = true
		mine, theirs := []*sighting{s}, []*sighting(nil)
		for _, t := range all[i+1:] {
			switch {
			case t.used:
			case t.end.UUID == s.end.UUID && t.far == s.far && s.far != s.end.UUID:
				mine, t.used = append(mine, t), true
			case t.end.UUID == s.far && t.far == s.end.UUID:
				theirs, t.used = append(theirs, t), true
			}
		}
		out = append(out, pair(ms, owner, mine, theirs)...)
	}
	return out
}

func sightings(ms []*probe.Machine) []*sighting {
	var all []*sighting
	for i, m := range ms {
		for p := range m.Thunderbolt.Ports {
			port := &m.Thunderbolt.Ports[p]
			port.Hosts(func(n *probe.Node, via []*probe.Node) {
				s := &sighting{
					end: End{Machine: i, Host: m.Host, Port: port.Number, Interface: cmp.Or(n.Interface, port.Interface), UUID: port.Domain},
					far: n.UUID, name: n.Name, gbps: slowest(port, n, via),
				}
				if d := m.RDMAFor(s.end.Interface); d != nil {
					s.end.RDMA = d.Name
				}
				for _, v := range via {
					s.via = append(s.via, v.Name)
				}
				all = append(all, s)
			})
		}
	}
	return all
}

// slowest returns the speed of the slowest hop between a port and a host.
func slowest(port *probe.Port, n *probe.Node, via []*probe.Node) float64 {
	gbps := port.Gbps
	for _, v := range append(via, n) {
		if v.Gbps > 0 && (gbps == 0 || v.Gbps < gbps) {
			gbps = v.Gbps
		}
	}
	return gbps
}

// pair makes cables from the sightings between two domains, mine from one side and
// theirs from the other.
func pair(ms []*probe.Machine, owner map[string]int, mine, theirs []*sighting) []Cable {
	var out []Cable
	match := ByIdentity
	if len(mine) > 1 && len(theirs) > 1 {
		out, mine, theirs = pairByNeighbours(ms, mine, theirs)
		match = ByAssumption
		if len(mine) == 1 && len(theirs) == 1 {
			match = ByNeighbour // only these two remain
		}
	}
	for len(mine) > 0 && len(theirs) > 0 {
		out = append(out, join(mine[0], theirs[0], match))
		mine, theirs = mine[1:], theirs[1:]
	}
	for _, s := range append(mine, theirs...) {
		out = append(out, oneEnded(ms, owner, s))
	}
	return out
}

// pairByNeighbours tells several cables between the same domains apart: two ends belong
// to one cable if one has the other's hardware address in its neighbour table. It
// returns the cables found and the remaining sightings.
func pairByNeighbours(ms []*probe.Machine, mine, theirs []*sighting) (out []Cable, restMine, restTheirs []*sighting) {
	for _, s := range mine {
		i := slices.IndexFunc(theirs, func(t *sighting) bool { return heard(ms, s.end, t.end) || heard(ms, t.end, s.end) })
		if i < 0 {
			restMine = append(restMine, s)
			continue
		}
		out = append(out, join(s, theirs[i], ByNeighbour))
		theirs = slices.Delete(slices.Clone(theirs), i, i+1)
	}
	return out, restMine, theirs
}

// heard reports whether b's interface is in a's neighbour table.
func heard(ms []*probe.Machine, a, b End) bool {
	itf := ms[b.Machine].Interface(b.Interface)
	if itf == nil || itf.MAC == "" {
		return false
	}
	return slices.ContainsFunc(ms[a.Machine].Neighbours, func(n probe.Neighbour) bool {
		return n.Interface == a.Interface && n.MAC == itf.MAC
	})
}

func join(s, t *sighting, match string) Cable {
	c := Cable{A: s.end, B: t.end, Kind: Thunderbolt, Gbps: s.gbps, Via: s.via, Match: match}
	if c.Gbps == 0 || t.gbps > 0 && t.gbps < c.Gbps {
		c.Gbps = t.gbps
	}
	// Only the end that a hub is plugged into reports it.
	if len(t.via) > len(c.Via) {
		c.Via = t.via
	}
	return c.ordered()
}

// ordered returns c with the end of the lower machine number first.
func (c Cable) ordered() Cable {
	if c.B.Known() && (c.A.Machine > c.B.Machine || c.A.Machine == c.B.Machine && c.A.Port > c.B.Port) {
		c.A, c.B = c.B, c.A
	}
	return c
}

// oneEnded makes a cable that the far end does not report: the far machine is not in the
// graph, or does not see this one.
func oneEnded(ms []*probe.Machine, owner map[string]int, s *sighting) Cable {
	far := End{Machine: -1, Host: cmp.Or(s.name, "unknown host"), UUID: s.far}
	if i, ok := owner[s.far]; ok {
		far.Machine, far.Host = i, ms[i].Host
		// If the domain has a single port, it must be that one.
		if ports := portsOf(ms[i], s.far); len(ports) == 1 {
			far.Port, far.Interface = ports[0].Number, ports[0].Interface
			if d := ms[i].RDMAFor(far.Interface); d != nil {
				far.RDMA = d.Name
			}
		}
	}
	return Cable{A: s.end, B: far, Kind: Thunderbolt, Gbps: s.gbps, Via: s.via, Match: ByOneEnd}.ordered()
}

func portsOf(m *probe.Machine, domain string) []probe.Port {
	var out []probe.Port
	for _, p := range m.Thunderbolt.Ports {
		if p.Domain == domain {
			out = append(out, p)
		}
	}
	return out
}
