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

// pools are where addresses come from, in order. They are parts of the private
// ranges that routers, VPNs and containers rarely pick.
var pools = []netip.Prefix{
	netip.MustParsePrefix("10.71.0.0/16"),
	netip.MustParsePrefix("172.29.0.0/16"),
	netip.MustParsePrefix("192.168.229.0/24"),
}

// A pool gives out subnets of four addresses, each once, none that is in use.
type pool struct {
	inUse []netip.Prefix
	given map[netip.Prefix]bool
}

// A subnet is a cable's network with the addresses of its ends, A's first.
type subnet struct {
	prefix netip.Prefix
	ends   [2]netip.Addr
}

// newPool knows the networks that any machine has an address or a route in. The
// ports that are to be set up do not count: what they have now is theirs.
func newPool(g *topology.Graph) *pool {
	p := &pool{given: map[netip.Prefix]bool{}}
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
					p.inUse = append(p.inUse, a.Masked())
				}
			}
		}
		for _, r := range m.Routes {
			if r.Dst.Addr().Is4() && r.Dst.Bits() > 0 && !mine[[2]string{m.Host, r.Interface}] {
				p.inUse = append(p.inUse, r.Dst.Masked())
			}
		}
	}
	return p
}

// subnet picks the network of a cable. What both ends agree on already is kept;
// else the identity of the ends decides where the search begins.
func (p *pool) subnet(g *topology.Graph, c *topology.Cable) (subnet, error) {
	if s, ok := p.keep(g, c); ok {
		return s, nil
	}
	key, swapped := cableKey(g, c)
	h := fnv.New64a()
	h.Write([]byte(key))
	for _, from := range pools {
		n := uint64(1) << (30 - from.Bits())
		for i := range n {
			block := nthSubnet(from, (h.Sum64()+i)%n)
			if p.given[block] || slices.ContainsFunc(p.inUse, block.Overlaps) {
				continue
			}
			p.given[block] = true
			first := block.Addr().Next()
			s := subnet{prefix: block, ends: [2]netip.Addr{first, first.Next()}}
			if swapped {
				s.ends[0], s.ends[1] = s.ends[1], s.ends[0]
			}
			return s, nil
		}
	}
	return subnet{}, fmt.Errorf("no free addresses for %s: the machines use all of %v", c, pools)
}

// keep returns the network that both ends are in already, if it is small and
// nobody else's.
func (p *pool) keep(g *topology.Graph, c *topology.Cable) (subnet, bool) {
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
			if p.given[net] || slices.ContainsFunc(p.inUse, net.Overlaps) {
				continue
			}
			p.given[net] = true
			return subnet{net, [2]netip.Addr{pa.Addr(), pb.Addr()}}, true
		}
	}
	return subnet{}, false
}

// cableKey is the cable's identity, the same whichever end it is looked at from,
// and whether end A comes second in it.
func cableKey(g *topology.Graph, c *topology.Cable) (key string, swapped bool) {
	a, b := c.A.UUID, c.B.UUID
	twins, nth := 0, 0 // cables that one controller has to the same other one
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

// nthSubnet is the n-th /30 of a prefix.
func nthSubnet(p netip.Prefix, n uint64) netip.Prefix {
	b := p.Masked().Addr().As4()
	v := binary.BigEndian.Uint32(b[:]) + uint32(n)*4
	binary.BigEndian.PutUint32(b[:], v)
	return netip.PrefixFrom(netip.AddrFrom4(b), 30)
}
