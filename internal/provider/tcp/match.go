package tcp

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// A Rail is one of this machine's addresses, and the interface that has it.
type Rail struct {
	Addr   netip.Addr // with its zone if link-local
	Device string     // "" if no interface has the address itself
	Subnet netip.Prefix
}

func (r Rail) String() string {
	if r.Device == "" {
		return r.Addr.String()
	}
	return fmt.Sprintf("%s/%d on %s", r.Addr.WithZone(""), r.Subnet.Bits(), r.Device)
}

// An Interface is what this machine has of addresses on one interface.
type Interface struct {
	Name     string
	Prefixes []netip.Prefix // an address and the length of its subnet
}

// Interfaces lists those of this machine.
func Interfaces() ([]Interface, error) {
	ifs, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("tcp: listing interfaces: %w", err)
	}
	var list []Interface
	for _, i := range ifs {
		addrs, err := i.Addrs()
		if err != nil {
			return nil, fmt.Errorf("tcp: addresses of %s: %w", i.Name, err)
		}
		it := Interface{Name: i.Name}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				it.Prefixes = append(it.Prefixes, p)
			}
		}
		list = append(list, it)
	}
	return list, nil
}

// FindRails returns the rails of the addresses (host:port) that a rank listens at.
func FindRails(addrs []string, ifs []Interface) ([]Rail, error) {
	var rails []Rail
	for _, addr := range addrs {
		ap, err := netip.ParseAddrPort(addr)
		if err != nil {
			return nil, fmt.Errorf("tcp: %s: a rank with several rails needs IP addresses, so that it is known which interface each is", addr)
		}
		r, ok := findRail(ap.Addr().Unmap(), ifs)
		if !ok {
			return nil, fmt.Errorf("tcp: %s: no interface of this machine has that address; it has %s", ap.Addr(), listInterfaces(ifs))
		}
		rails = append(rails, r)
	}
	return rails, nil
}

func findRail(addr netip.Addr, ifs []Interface) (Rail, bool) {
	for _, i := range ifs {
		if z := addr.Zone(); z != "" && z != i.Name {
			continue
		}
		for _, p := range i.Prefixes {
			switch {
			case p.Addr() == addr.WithZone(""):
				return Rail{Addr: addr, Device: i.Name, Subnet: p.Masked()}, true
			case p.Addr().IsLoopback() && p.Contains(addr):
				return Rail{Addr: addr, Subnet: p.Masked()}, true // the whole subnet is this machine
			}
		}
	}
	return Rail{}, false
}

func listInterfaces(ifs []Interface) string {
	var list []string
	for _, i := range ifs {
		for _, p := range i.Prefixes {
			list = append(list, fmt.Sprintf("%s on %s", p, i.Name))
		}
	}
	return strings.Join(list, ", ")
}

// Pair returns the ways from this machine's rails to the addresses (host:port) of a
// peer that are in the same subnets. Where several of either end are in one subnet,
// they pair in the order of their addresses. So both ends come to the same result,
// in the same order, whatever the order of the lists; links over rails make sure
// of it before they are used. A cable that was declared comes first: it maps
// one of the own addresses to one of the peer's.
func Pair(own []Rail, peer []string, cables map[netip.Addr]netip.Addr) []Path {
	var far []netip.AddrPort
	for _, addr := range peer {
		if ap, err := netip.ParseAddrPort(addr); err == nil {
			far = append(far, netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()))
		}
	}
	slices.SortFunc(far, func(a, b netip.AddrPort) int { return a.Compare(b) })
	near := slices.Clone(own)
	slices.SortFunc(near, func(a, b Rail) int { return a.Addr.Compare(b.Addr) })

	var paths []Path
	taken := make([]bool, len(far))
	join := func(r Rail, i int) {
		taken[i] = true
		remote := far[i]
		if remote.Addr().Zone() != "" && r.Device != "" {
			// A zone is the name that the peer has for its interface.
			remote = netip.AddrPortFrom(remote.Addr().WithZone(r.Device), remote.Port())
		}
		paths = append(paths, Path{Local: r.Addr, Device: r.Device, Remote: remote.String()})
	}
	for _, r := range near {
		to, declared := cables[r.Addr.WithZone("")]
		for i := range far {
			if taken[i] {
				continue
			}
			if a := far[i].Addr(); declared && a.WithZone("") == to || !declared && r.reaches(a) {
				join(r, i)
				break
			}
		}
	}
	slices.SortFunc(paths, func(a, b Path) int { return cmp.Compare(a.key(), b.key()) })
	return paths
}

// reaches reports whether an address is in the subnet of a rail. Every interface has
// the link-local subnet, so there the interfaces have to have the same name.
func (r Rail) reaches(a netip.Addr) bool {
	if a.IsLinkLocalUnicast() && a.Is6() {
		return r.Addr.IsLinkLocalUnicast() && a.Zone() == r.Device
	}
	return r.Subnet.Contains(a)
}

// key is the same at both ends of a path.
func (p *Path) key() string {
	far, err := netip.ParseAddrPort(p.Remote)
	if err != nil {
		return p.Remote
	}
	a, b := p.Local.WithZone("").StringExpanded(), far.Addr().WithZone("").StringExpanded()
	return min(a, b) + " " + max(a, b)
}
