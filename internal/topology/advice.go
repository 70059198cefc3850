package topology

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"thundercollective/internal/topology/probe"
)

// A Plug is a cable to add, or the reason why it cannot be added.
type Plug struct {
	A   End    `json:"a"`
	B   End    `json:"b"`
	For string `json:"for"` // the shape that it completes
	// Blocked tells why the cable cannot be plugged in, and what to do about it.
	Blocked string `json:"blocked,omitempty"`
}

// String returns the advice as a sentence.
func (p Plug) String() string {
	if p.Blocked != "" {
		return fmt.Sprintf("%s and %s need a cable, but %s", p.A.Host, p.B.Host, p.Blocked)
	}
	return fmt.Sprintf("plug %s into %s", p.A, p.B)
}

// advise returns the cables to add. It uses each free port once, best first.
func advise(g *Graph) []Plug {
	s := g.Shape
	want, target := s.Missing, Mesh
	if s.Name == Chain && len(g.Machines) > 4 {
		// A mesh of many machines needs more ports than they have; closing the
		// chain is one cable.
		want, target = [][2]int{{s.Order[0], s.Order[len(s.Order)-1]}}, Ring
	}
	if s.Name == Broken {
		want, target = nil, "connection"
		for i := range len(s.Islands) - 1 {
			want = append(want, [2]int{s.Islands[i][0], s.Islands[i+1][0]})
		}
		if len(g.Machines) <= 4 {
			want, target = s.Missing, Mesh
		}
	}
	free := make([][]probe.Port, len(g.Machines))
	any := false
	for i, m := range g.Machines {
		free[i] = freePorts(m)
		any = any || len(m.Thunderbolt.Ports) > 0
	}
	if !any {
		return nil // no machine has ports that the advice could name
	}
	var out []Plug
	for _, w := range want {
		out = append(out, plug(g, free, w[0], w[1], target))
	}
	return out
}

func plug(g *Graph, free [][]probe.Port, a, b int, target string) Plug {
	p := Plug{A: End{Machine: a, Host: g.Machines[a].Host}, B: End{Machine: b, Host: g.Machines[b].Host}, For: target}
	for _, c := range g.Between(a, b) {
		// There is a cable; another one would not help.
		p.Blocked = fmt.Sprintf("only that end sees the one in %s: push both plugs in, or try another cable", c.A)
		return p
	}
	var full []string
	for _, m := range []int{a, b} {
		switch {
		case g.Machines[m].PortsUnknown():
			full = append(full, "the ports of "+g.Machines[m].Host+" could not be read")
		case len(g.Machines[m].Thunderbolt.Ports) == 0:
			full = append(full, g.Machines[m].Host+" shows no Thunderbolt port")
		case len(free[m]) == 0:
			full = append(full, g.Machines[m].Host+" has no free port"+unplugHint(g, m))
		}
	}
	if len(full) > 0 {
		p.Blocked = strings.Join(full, " and ")
		return p
	}
	p.A.Port, p.A.Interface = free[a][0].Number, free[a][0].Interface
	p.B.Port, p.B.Interface = free[b][0].Number, free[b][0].Interface
	free[a], free[b] = free[a][1:], free[b][1:]
	return p
}

// freePorts returns a machine's empty ports, the most capable first.
func freePorts(m *probe.Machine) []probe.Port {
	var out []probe.Port
	for _, p := range m.Thunderbolt.Ports {
		if !p.Connected {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b probe.Port) int {
		return cmp.Or(
			boolOrder(NoRDMAPort(m, a.Interface), NoRDMAPort(m, b.Interface)),
			cmp.Compare(b.MaxGbps, a.MaxGbps),
			cmp.Compare(a.Number, b.Number),
		)
	})
	return out
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// unplugHint names something to unplug from a machine without free ports: a second
// cable to the same machine, or a device that is not a computer.
func unplugHint(g *Graph, m int) string {
	for i := range g.Cables {
		c := &g.Cables[i]
		if c.A.Known() && c.B.Known() && (c.A.Machine == m || c.B.Machine == m) && len(g.Between(c.A.Machine, c.B.Machine)) > 1 {
			mine, other := c.A, c.B
			if c.B.Machine == m {
				mine, other = c.B, c.A
			}
			return fmt.Sprintf(" (port %d holds a second cable to %s)", mine.Port, other.Host)
		}
	}
	for _, p := range g.Machines[m].Thunderbolt.Ports {
		for _, d := range p.Devices {
			if d.Kind == probe.KindDevice {
				return fmt.Sprintf(" (port %d holds %s)", p.Number, d.Name)
			}
		}
	}
	return ""
}

// macStudios are the models whose first Thunderbolt port is next to the Ethernet port
// and cannot do RDMA.
var macStudios = []string{"Mac15,14", "Mac16,9"}

// NoRDMAPort reports whether an interface belongs to a port that cannot do RDMA although
// the other ports of the machine can: on a Mac Studio, the port next to Ethernet.
func NoRDMAPort(m *probe.Machine, itf string) bool {
	return itf == "en2" && slices.Contains(macStudios, m.Model)
}
