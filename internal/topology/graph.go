package topology

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"thundercollective/internal/topology/probe"
)

// A Graph is a set of machines and the cables and networks between them.
type Graph struct {
	Machines []*probe.Machine `json:"machines"`
	Cables   []Cable          `json:"cables"`
	Networks []Network        `json:"networks,omitempty"`
	Shape    Shape            `json:"shape"`
	// Plug lists the cables to add for a mesh or, if that takes too many, a ring.
	Plug []Plug `json:"plug,omitempty"`
}

// Kinds of Cable.
const (
	Thunderbolt = "thunderbolt"
	Ethernet    = "ethernet"
	InfiniBand  = "infiniband"
)

// How the two ends of a cable were matched, best first.
const (
	ByIdentity   = "identity"   // each end names the other
	ByNeighbour  = "neighbours" // the interfaces have seen each other on the network
	ByOneEnd     = "one end"    // only one end reports it
	ByAssumption = "assumed"    // there are several candidates, paired in order
)

// Transports a cable can carry now, best first.
const (
	OverRDMA = "rdma"
	OverTCP  = "tcp"
	OverNone = "none" // plugged in, but without addresses
)

// A Cable is a cable between two machines.
type Cable struct {
	A         End      `json:"a"`
	B         End      `json:"b"`
	Kind      string   `json:"kind"`
	Gbps      float64  `json:"gbps,omitempty"` // one direction
	Via       []string `json:"via,omitempty"`  // hubs in between
	Transport string   `json:"transport"`
	Match     string   `json:"match"`
}

// An End is one end of a cable.
type End struct {
	Machine   int    `json:"machine"` // index in Graph.Machines, -1 for a machine that is not in it
	Host      string `json:"host"`
	Port      int    `json:"port,omitempty"` // 0 if unknown
	Interface string `json:"interface,omitempty"`
	RDMA      string `json:"rdma,omitempty"` // verbs device of the interface, whatever its state
	UUID      string `json:"uuid,omitempty"`
}

// Known reports whether the end's machine is in the graph.
func (e End) Known() bool { return e.Machine >= 0 }

// String returns "mac-a port 3", or the interface if the port has no number.
func (e End) String() string {
	switch {
	case e.Port > 0:
		return fmt.Sprintf("%s port %d", e.Host, e.Port)
	case e.Interface != "":
		return e.Host + " " + e.Interface
	}
	return e.Host
}

// String returns "mac-a port 3 – mac-b port 2".
func (c *Cable) String() string { return c.A.String() + " – " + c.B.String() }

// Speed returns "80 Gb/s", or "" if it is unknown.
func (c *Cable) Speed() string {
	if c.Gbps == 0 {
		return ""
	}
	return fmt.Sprintf("%g Gb/s", c.Gbps)
}

// Label returns the technology: "TB5", "TB4/USB4", "Ethernet".
func (c *Cable) Label() string {
	switch c.Kind {
	case Thunderbolt:
		switch {
		case c.Gbps >= 80:
			return "TB5"
		case c.Gbps >= 40:
			return "TB4/USB4"
		case c.Gbps > 0:
			return "TB/USB4 slow"
		}
		return "Thunderbolt"
	case InfiniBand:
		return "InfiniBand"
	}
	return "Ethernet"
}

// A Network is a subnet that several machines have an interface in.
type Network struct {
	Prefix netip.Prefix `json:"prefix"`
	Ends   []End        `json:"ends"`
	Mbps   int          `json:"mbps,omitempty"` // of the slowest interface with a known speed
}

// Build returns the graph of machines. It names machines that have no name.
func Build(machines []*probe.Machine) *Graph {
	g := &Graph{Machines: machines, Cables: []Cable{}}
	for i, m := range machines {
		if m.Host == "" {
			m.Host = fmt.Sprintf("host%d", i)
		}
	}
	g.Cables = append(g.Cables, matchThunderbolt(machines)...)
	g.Cables = append(g.Cables, matchEthernet(machines, g.Cables)...)
	for i := range g.Cables {
		g.Cables[i].Transport = transport(machines, &g.Cables[i])
	}
	slices.SortStableFunc(g.Cables, func(a, b Cable) int {
		return strings.Compare(a.sortKey(), b.sortKey())
	})
	g.Networks = findNetworks(machines, g.Cables)
	g.Shape = shapeOf(len(machines), g.Cables)
	if g.Shape.Name == Broken && len(g.Cables) == 0 && len(g.common()) > 0 {
		g.Shape = Shape{Name: Switched, Missing: g.Shape.Missing}
	}
	g.Plug = advise(g)
	return g
}

func (c *Cable) sortKey() string {
	return fmt.Sprintf("%05d %05d %05d %05d %s", c.A.Machine, uint16(c.B.Machine), c.A.Port, c.B.Port, c.A.Interface)
}

// Between returns the cables that join two machines.
func (g *Graph) Between(a, b int) []*Cable {
	var out []*Cable
	for i := range g.Cables {
		c := &g.Cables[i]
		if c.A.Machine == a && c.B.Machine == b || c.A.Machine == b && c.B.Machine == a {
			out = append(out, c)
		}
	}
	return out
}

// Interface returns the network interface of an end, or nil.
func (g *Graph) Interface(e End) *probe.Interface {
	if !e.Known() || e.Interface == "" {
		return nil
	}
	return g.Machines[e.Machine].Interface(e.Interface)
}

// Verbs returns the verbs device of an end, or nil.
func (g *Graph) Verbs(e End) *probe.RDMADevice {
	if !e.Known() {
		return nil
	}
	return g.Machines[e.Machine].RDMAFor(e.Interface)
}

// transport returns what a cable can carry with the present setup of its machines.
func transport(ms []*probe.Machine, c *Cable) string {
	if !c.A.Known() || !c.B.Known() || c.Match == ByOneEnd {
		return OverNone
	}
	da, db := ms[c.A.Machine].RDMAFor(c.A.Interface), ms[c.B.Machine].RDMAFor(c.B.Interface)
	if usable(da) && usable(db) {
		return OverRDMA
	}
	ia, ib := ms[c.A.Machine].Interface(c.A.Interface), ms[c.B.Machine].Interface(c.B.Interface)
	if ia == nil || ib == nil {
		return OverNone
	}
	if SameSubnet(ia, ib) {
		return OverTCP
	}
	return OverNone
}

// usable reports whether a verbs device has an active port with an address.
func usable(d *probe.RDMADevice) bool {
	return d != nil && slices.ContainsFunc(d.Ports, func(p probe.RDMAPort) bool {
		return p.Active() && (p.LinkLayer == "InfiniBand" || p.IPv4GID() >= 0)
	})
}

// SameSubnet reports whether two interfaces have IPv4 addresses in the same subnet.
func SameSubnet(a, b *probe.Interface) bool {
	for _, p := range a.Addrs {
		for _, q := range b.Addrs {
			if p.Addr().Is4() && q.Addr().Is4() && !p.Addr().IsLinkLocalUnicast() && p.Masked() == q.Masked() {
				return true
			}
		}
	}
	return false
}
