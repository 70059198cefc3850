package topology

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"thundercollective/internal/topology/probe"
)

// matchEthernet finds direct cables between network cards: two interfaces of different
// machines that have seen each other and nobody else, or that share a subnet for two
// addresses.
func matchEthernet(ms []*probe.Machine, have []Cable) []Cable {
	ends := networkEnds(ms, have, physical)
	var out []Cable
	used := map[int]bool{}
	for i, a := range ends {
		for j := i + 1; j < len(ends); j++ {
			b := ends[j]
			if used[i] || used[j] || a.Machine == b.Machine {
				continue
			}
			match := direct(ms, a, b)
			if match == "" {
				continue
			}
			used[i], used[j] = true, true
			ia, ib := ms[a.Machine].Interface(a.Interface), ms[b.Machine].Interface(b.Interface)
			c := Cable{A: a, B: b, Kind: Ethernet, Match: match, Gbps: float64(min(ia.Mbps, ib.Mbps)) / 1000}
			if d := ms[a.Machine].RDMAFor(a.Interface); d != nil && len(d.Ports) > 0 && d.Ports[0].LinkLayer == "InfiniBand" {
				c.Kind = InfiniBand
			}
			out = append(out, c)
		}
	}
	return out
}

// networkEnds lists the interfaces that suit, without those of known cables.
func networkEnds(ms []*probe.Machine, have []Cable, suits func(*probe.Machine, *probe.Interface) bool) []End {
	taken := map[[2]string]bool{}
	for _, c := range have {
		taken[[2]string{c.A.Host, c.A.Interface}] = true
		taken[[2]string{c.B.Host, c.B.Interface}] = true
	}
	var out []End
	for i, m := range ms {
		for _, itf := range m.Interfaces {
			if !suits(m, &itf) || taken[[2]string{m.Host, itf.Name}] {
				continue
			}
			e := End{Machine: i, Host: m.Host, Interface: itf.Name}
			if d := m.RDMAFor(itf.Name); d != nil {
				e.RDMA = d.Name
			}
			out = append(out, e)
		}
	}
	return out
}

// physical reports whether an interface is a running network card, into which a cable can
// be plugged: not loopback, Thunderbolt, Wi-Fi or virtual.
func physical(_ *probe.Machine, itf *probe.Interface) bool {
	return (itf.Kind == "" || itf.Kind == "ipoib") && external(itf)
}

// carriesNetwork reports whether an interface may lead to other machines: a network card,
// or what stands for one in a machine that is virtual, a container, or has a bond or a
// bridge on its cards.
func carriesNetwork(m *probe.Machine, itf *probe.Interface) bool {
	switch itf.Kind {
	case "", "ipoib", "veth", "bond", "team", "vlan", "macvlan", "ipvlan":
		return external(itf)
	case "bridge":
		// A bridge of Thunderbolt ports is a matter of cables.
		return external(itf) && m.OS.Kind != "darwin" && !slices.ContainsFunc(itf.Members, func(name string) bool {
			member := m.Interface(name)
			return member != nil && member.Kind == "thunderbolt"
		})
	}
	return false
}

// external reports whether an interface is running and not, by its name, Wi-Fi or local to
// the machine.
func external(itf *probe.Interface) bool {
	for _, p := range []string{"docker", "br-", "virbr", "lxc", "cni", "flannel", "cali", "veth", "tun", "tap", "utun", "awdl", "llw", "anpi", "gif", "stf", "ap", "wl", "ifb"} {
		if strings.HasPrefix(itf.Name, p) {
			return false
		}
	}
	return itf.Running && itf.Port != "Wi-Fi"
}

// direct returns how it is known that two interfaces share a cable, or "" if it is not
// known.
func direct(ms []*probe.Machine, a, b End) string {
	if heard(ms, a, b) && heard(ms, b, a) && neighbours(ms[a.Machine], a.Interface) == 1 && neighbours(ms[b.Machine], b.Interface) == 1 {
		return ByNeighbour
	}
	ia, ib := ms[a.Machine].Interface(a.Interface), ms[b.Machine].Interface(b.Interface)
	for _, p := range ia.Addrs {
		for _, q := range ib.Addrs {
			if p.Addr().Is4() && p.Bits() >= 30 && p.Masked() == q.Masked() && p.Addr() != q.Addr() {
				return ByIdentity
			}
		}
	}
	return ""
}

// neighbours counts the hardware addresses in the neighbour table of an interface.
func neighbours(m *probe.Machine, itf string) int {
	seen := map[string]bool{}
	for _, n := range m.Neighbours {
		if n.Interface == itf {
			seen[n.MAC] = true
		}
	}
	return len(seen)
}

// findNetworks returns the subnets that several machines share, without the interfaces
// of known cables.
func findNetworks(ms []*probe.Machine, cables []Cable) []Network {
	byPrefix := map[netip.Prefix]*Network{}
	addrs := map[netip.Addr]bool{}
	for _, e := range networkEnds(ms, cables, carriesNetwork) {
		itf := ms[e.Machine].Interface(e.Interface)
		addr, ok := itf.IPv4()
		if !ok {
			continue
		}
		n := byPrefix[addr.Masked()]
		if n == nil {
			n = &Network{Prefix: addr.Masked()}
			byPrefix[addr.Masked()] = n
		}
		// Two machines with the same address are not in one network: it is local to each.
		if !addrs[addr.Addr()] && !slices.ContainsFunc(n.Ends, func(o End) bool { return o.Machine == e.Machine }) {
			n.Ends = append(n.Ends, e)
		}
		addrs[addr.Addr()] = true
		if itf.Mbps > 0 && (n.Mbps == 0 || itf.Mbps < n.Mbps) {
			n.Mbps = itf.Mbps
		}
	}
	var out []Network
	for _, n := range byPrefix {
		if len(n.Ends) > 1 {
			out = append(out, *n)
		}
	}
	slices.SortFunc(out, func(a, b Network) int {
		return cmp.Or(a.Prefix.Addr().Compare(b.Prefix.Addr()), a.Prefix.Bits()-b.Prefix.Bits())
	})
	return out
}

// common returns the networks that all machines share, the fastest first. Networks with
// less than a quarter of its speed, such as one for management, are omitted.
func (g *Graph) common() []Network {
	var out []Network
	for _, n := range g.Networks {
		if len(n.Ends) == len(g.Machines) {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b Network) int { return cmp.Compare(b.Mbps, a.Mbps) })
	fastest := 0
	if len(out) > 0 {
		fastest = out[0].Mbps
	}
	return slices.DeleteFunc(out, func(n Network) bool { return n.Mbps > 0 && 4*n.Mbps < fastest })
}
