package setup

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"strings"

	"thundercollective/internal/topology"
)

// pools are the networks that addresses are taken from, in order: parts of the private
// ranges that routers, VPNs and containers rarely use.
var pools = []netip.Prefix{
	netip.MustParsePrefix("10.71.0.0/16"),
	netip.MustParsePrefix("172.29.0.0/16"),
	netip.MustParsePrefix("192.168.229.0/24"),
}

// An allocator allocates subnets of four addresses that are not in use.
type allocator struct {
	inUse []netip.Prefix
	given map[netip.Prefix]bool
}

// A subnet is a cable's network with the addresses of its ends, A's first.
type subnet struct {
	prefix netip.Prefix
	ends   [2]netip.Addr
}

// newAllocator returns an allocator that avoids the networks in which any machine has an
// address or a route, except those of the ports to set up.
func newAllocator(g *topology.Graph) *allocator {
	al := &allocator{given: map[netip.Prefix]bool{}}
	mine := map[[2]string]bool{}
	for _, c := range g.Cables {
		if c.Kind == topology.Thunderbolt {
			mine[[2]string{c.A.Host, c.A.Interface}] = true
			mine[[2]string{c.B.Host, c.B.Interface}] = true
		}
	}
	for _, m := range g.Machines {
		for _, itf := range m.Interfaces {
			for _, a := range itf.Addrs {
				if a.Addr().Is4() && !mine[[2]string{m.Host, itf.Name}] {
					al.inUse = append(al.inUse, a.Masked())
				}
			}
		}
		for _, r := range m.Routes {
			if r.Dst.Addr().Is4() && r.Dst.Bits() > 0 && !mine[[2]string{m.Host, r.Interface}] {
				al.inUse = append(al.inUse, r.Dst.Masked())
			}
		}
	}
	return al
}

// subnet returns the network for a cable: the one that both ends are in already, or else
// a free one. The search starts at a position derived from the identity of the ends.
func (al *allocator) subnet(g *topology.Graph, c *topology.Cable) (subnet, error) {
	if s, ok := al.keep(g, c); ok {
		return s, nil
	}
	key, swapped := cableKey(g, c)
	h := fnv.New64a()
	h.Write([]byte(key))
	for _, from := range pools {
		n := uint64(1) << (30 - from.Bits())
		for i := range n {
			block := nthSubnet(from, (h.Sum64()+i)%n)
			if al.given[block] || slices.ContainsFunc(al.inUse, block.Overlaps) {
				continue
			}
			al.given[block] = true
			first := block.Addr().Next()
			s := subnet{prefix: block, ends: [2]netip.Addr{first, first.Next()}}
			if swapped {
				s.ends[0], s.ends[1] = s.ends[1], s.ends[0]
			}
			return s, nil
		}
	}
	return subnet{}, fmt.Errorf("no free addresses for %s: the machines already use all of %v", c, pools)
}

// keep returns the network that both ends are in already, if it is small and not used
// elsewhere.
func (al *allocator) keep(g *topology.Graph, c *topology.Cable) (subnet, bool) {
	a, b := g.Interface(c.A), g.Interface(c.B)
	if a == nil || b == nil {
		return subnet{}, false
	}
	for _, pa := range a.Addrs {
		for _, pb := range b.Addrs {
			net := pa.Masked()
			if !pa.Addr().Is4() || !pa.Addr().IsPrivate() || net != pb.Masked() || pa.Addr() == pb.Addr() || pa.Bits() < 24 {
				continue
			}
			if al.given[net] || slices.ContainsFunc(al.inUse, net.Overlaps) {
				continue
			}
			al.given[net] = true
			return subnet{net, [2]netip.Addr{pa.Addr(), pb.Addr()}}, true
		}
	}
	return subnet{}, false
}

// cableKey returns the identity of a cable, which is the same from both ends, and reports
// whether end A comes second in it.
func cableKey(g *topology.Graph, c *topology.Cable) (key string, swapped bool) {
	a, b := c.A.UUID, c.B.UUID
	twins, nth := 0, 0 // cables between the same two controllers
	for i := range g.Cables {
		o := &g.Cables[i]
		if same(o, c) {
			if o == c {
				nth = twins
			}
			twins++
		}
	}
	if b < a {
		a, b, swapped = b, a, true
	}
	key = strings.Join([]string{a, b}, "|")
	if twins > 1 {
		key += fmt.Sprintf("|%d", nth)
	}
	return key, swapped
}

func same(a, b *topology.Cable) bool {
	return a.A.UUID == b.A.UUID && a.B.UUID == b.B.UUID || a.A.UUID == b.B.UUID && a.B.UUID == b.A.UUID
}

// nthSubnet returns the n-th /30 of a prefix.
func nthSubnet(p netip.Prefix, n uint64) netip.Prefix {
	b := p.Masked().Addr().As4()
	v := binary.BigEndian.Uint32(b[:]) + uint32(n)*4
	binary.BigEndian.PutUint32(b[:], v)
	return netip.PrefixFrom(netip.AddrFrom4(b), 30)
}
