package probe

import (
	"cmp"
	"slices"
	"strings"
)

// join fills in the interface of verbs devices that share a card with exactly one.
func (m *Machine) join() {
	for i := range m.RDMA.Devices {
		d := &m.RDMA.Devices[i]
		for _, card := range m.PCI {
			if d.Interface == "" && slices.Contains(card.RDMADevices, d.Name) && len(card.Interfaces) == 1 {
				d.Interface = card.Interfaces[0]
			}
		}
	}
}

// Interface returns the interface with that name, or nil.
func (m *Machine) Interface(name string) *Interface {
	for i := range m.Interfaces {
		if m.Interfaces[i].Name == name {
			return &m.Interfaces[i]
		}
	}
	return nil
}

// RDMAFor returns the verbs device that belongs to an interface, or nil.
func (m *Machine) RDMAFor(itf string) *RDMADevice {
	if itf == "" {
		return nil
	}
	for i := range m.RDMA.Devices {
		if m.RDMA.Devices[i].Interface == itf {
			return &m.RDMA.Devices[i]
		}
	}
	return nil
}

func (m *Machine) rdmaDevice(name string) *RDMADevice {
	for i := range m.RDMA.Devices {
		if m.RDMA.Devices[i].Name == name {
			return &m.RDMA.Devices[i]
		}
	}
	return nil
}

// PortsUnknown reports whether the Thunderbolt ports could not be read, in contrast to a
// machine that has none.
func (m *Machine) PortsUnknown() bool {
	return m.Lost != "" || len(m.Thunderbolt.Ports) == 0 && slices.ContainsFunc(m.Problems, func(p Problem) bool {
		return strings.Contains(strings.ToLower(p.What), "thunderbolt")
	})
}

// HasModule reports whether a kernel module is loaded.
func (m *Machine) HasModule(name string) bool { return slices.Contains(m.Modules, name) }

// HasTool reports whether a helper program is installed.
func (m *Machine) HasTool(name string) bool { return slices.Contains(m.Tools, name) }

// Hosts calls f for every other computer behind a port, at any depth. via holds the
// devices in between, nearest first.
func (p *Port) Hosts(f func(n *Node, via []*Node)) {
	var walk func(nodes []Node, via []*Node)
	walk = func(nodes []Node, via []*Node) {
		for i := range nodes {
			n := &nodes[i]
			if n.Kind == KindHost {
				f(n, slices.Clone(via))
			}
			walk(n.Children, append(slices.Clone(via), n))
		}
	}
	walk(p.Devices, nil)
}

// AllDevices calls f for every device behind a port that is not a computer.
func (p *Port) AllDevices(f func(n *Node)) {
	var walk func(nodes []Node)
	walk = func(nodes []Node) {
		for i := range nodes {
			if nodes[i].Kind == KindDevice {
				f(&nodes[i])
			}
			walk(nodes[i].Children)
		}
	}
	walk(p.Devices)
}

func sortProblems(ps []Problem) {
	slices.SortFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.Why, b.Why))
	})
}
