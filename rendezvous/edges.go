package rendezvous

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// An Edge says that two ranks are joined by a cable.
type Edge struct {
	A, B int
	// Gbps is its rate in each direction, in Gb/s; 0 if unknown.
	Gbps float64
	// AddrA and AddrB are the addresses at its ends, if the cable was declared
	// by them.
	AddrA, AddrB netip.Addr
}

// An EdgeSpec is an Edge as the user wrote it. An end is a rank, the name of a host
// (then all its ranks are meant), or an address of one, which says at which rail
// the cable is plugged in.
type EdgeSpec struct {
	A, B string
	Gbps float64
}

// ParseEdges reads a list of cables: "0-1,1-2", "mac1=mac2", with "@rate" behind
// those whose rate is known, in Gb/s: "0-1@10,1-2@10,0-2@1". Ends are parted by "-",
// or by "=" where a name has a "-" of its own.
func ParseEdges(text string) ([]EdgeSpec, error) {
	var list []EdgeSpec
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		ends, rate, rated := strings.Cut(item, "@")
		a, b, ok := strings.Cut(ends, "=")
		if !ok && strings.Count(ends, "-") == 1 {
			a, b, ok = strings.Cut(ends, "-")
		}
		e := EdgeSpec{A: strings.TrimSpace(a), B: strings.TrimSpace(b)}
		if !ok || e.A == "" || e.B == "" {
			return nil, badConfig(fieldEdges, "%q is no cable; write two ranks or hosts, as in 0-1 or mac1=mac2", item)
		}
		if rated {
			var err error
			if e.Gbps, err = parseRate(rate); err != nil {
				return nil, badConfig(fieldEdges, "%q: %v", item, err)
			}
		}
		list = append(list, e)
	}
	return list, nil
}

func parseRate(text string) (float64, error) {
	r, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(r > 0 && r < 1e6) {
		return 0, fmt.Errorf("%q is no rate in Gb/s", text)
	}
	return r, nil
}

const fieldEdges = "--edges (THUNDER_EDGES)"

// resolveEdges finds the ranks that the ends of cables stand for.
func resolveEdges(specs []EdgeSpec, peers []Peer) ([]Edge, error) {
	var edges []Edge
	for _, s := range specs {
		as, addrA, err := endOf(s.A, peers)
		if err != nil {
			return nil, err
		}
		bs, addrB, err := endOf(s.B, peers)
		if err != nil {
			return nil, err
		}
		for _, a := range as {
			for _, b := range bs {
				if a == b {
					return nil, badConfig(fieldEdges, "%s and %s are both rank %d", s.A, s.B, a)
				}
				edges = append(edges, Edge{A: a, B: b, Gbps: s.Gbps, AddrA: addrA, AddrB: addrB})
			}
		}
	}
	return edges, nil
}

// endOf returns the ranks that one end of a cable stands for.
func endOf(name string, peers []Peer) (ranks []int, addr netip.Addr, err error) {
	if r, err := strconv.Atoi(name); err == nil {
		if r < 0 || r >= len(peers) {
			return nil, addr, badConfig(fieldEdges, "there is no rank %d among %d", r, len(peers))
		}
		return []int{r}, addr, nil
	}
	for r, p := range peers {
		if p.Host == name {
			ranks = append(ranks, r)
		}
	}
	if ip, err := netip.ParseAddr(unbracket(name)); err == nil {
		addr = ip.Unmap().WithZone("")
		for r, p := range peers {
			if slices.Contains(ranks, r) {
				continue
			}
			if slices.ContainsFunc(p.Addrs, func(a string) bool { return hasAddr(a, addr) }) {
				ranks = append(ranks, r)
			}
		}
	}
	if ranks == nil {
		var hosts []string
		for _, p := range peers {
			if !slices.Contains(hosts, p.Host) {
				hosts = append(hosts, p.Host)
			}
		}
		return nil, addr, badConfig(fieldEdges, "%q is neither a rank, nor a host, nor one of their addresses; the hosts are %s",
			name, strings.Join(hosts, ", "))
	}
	return ranks, addr, nil
}

func hasAddr(hostport string, addr netip.Addr) bool {
	e, err := parseEndpoint(hostport)
	return err == nil && e.ip.WithZone("") == addr
}
