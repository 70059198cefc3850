package rendezvous

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// An Edge is a cable between two ranks.
type Edge struct {
	A, B int
	// Gbps is its rate in each direction, in Gb/s; 0 if unknown.
	Gbps float64
	// AddrA and AddrB are the addresses at its ends, if the user named the ends by
	// address.
	AddrA, AddrB netip.Addr
	// ServiceA and ServiceB are the names by which each end knows the other in its
	// Thunderbolt domain ("0-1.3"), if the cable carries USB4 streams. Such a cable is
	// used in addition to the addresses, not in place of them.
	ServiceA, ServiceB string
}

// Stream reports whether the cable carries USB4 streams.
func (e *Edge) Stream() bool { return e.ServiceA != "" }

// An EdgeSpec is an Edge as the user wrote it. An end is a rank, a host name (which
// means all ranks of the host), or an address of a host, which tells the rail of the
// cable. If the cable carries USB4 streams, both ends are followed by a slash and the
// service that leads to the other end, as in "halo1/0-1.3".
type EdgeSpec struct {
	A, B string
	Gbps float64
}

// ParseEdges parses a list of cables: "0-1,1-2" or "mac1=mac2", with "@" and the rate
// in Gb/s where it is known: "0-1@10,1-2@10,0-2@1". The ends are separated by "-", or by
// "=" if a name contains a "-". "halo1/0-1.3=halo2/0-3.1" is a cable that carries USB4
// streams.
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
			return nil, badConfig(fieldEdges, "%q is not a cable; write two ranks or hosts, as in 0-1 or mac1=mac2", item)
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
		return 0, fmt.Errorf("%q is not a rate in Gb/s", text)
	}
	return r, nil
}

const fieldEdges = "--edges (THUNDER_EDGES)"

// resolveEdges finds the ranks at the ends of cables.
func resolveEdges(specs []EdgeSpec, peers []Peer) ([]Edge, error) {
	var edges []Edge
	for _, s := range specs {
		a, serviceA, b, serviceB, err := s.services()
		if err != nil {
			return nil, badConfig(fieldEdges, "%v", err)
		}
		as, addrA, err := endOf(a, peers)
		if err != nil {
			return nil, err
		}
		bs, addrB, err := endOf(b, peers)
		if err != nil {
			return nil, err
		}
		for _, a := range as {
			for _, b := range bs {
				if a == b {
					return nil, badConfig(fieldEdges, "%s and %s are both rank %d", s.A, s.B, a)
				}
				edges = append(edges, Edge{
					A: a, B: b, Gbps: s.Gbps, AddrA: addrA, AddrB: addrB, ServiceA: serviceA, ServiceB: serviceB,
				})
			}
		}
	}
	return edges, nil
}

// services splits the ends of a cable from the services that follow them, if any.
func (s *EdgeSpec) services() (a, serviceA, b, serviceB string, err error) {
	a, serviceA, hasA := strings.Cut(s.A, "/")
	b, serviceB, hasB := strings.Cut(s.B, "/")
	if hasA != hasB {
		return a, serviceA, b, serviceB, fmt.Errorf("%s and %s: a cable for USB4 streams needs a service at both ends, as in halo1/0-1.3=halo2/0-3.1", s.A, s.B)
	}
	for _, service := range []string{serviceA, serviceB} {
		if hasA && !validService(service) {
			return a, serviceA, b, serviceB, fmt.Errorf("%q is not a service of a Thunderbolt domain, such as 0-1.3; see /sys/bus/thunderbolt/devices", service)
		}
	}
	return a, serviceA, b, serviceB, nil
}

// validService reports whether text consists of a domain, a hexadecimal route and a
// service number.
func validService(text string) bool {
	domain, rest, _ := strings.Cut(text, "-")
	route, number, _ := strings.Cut(rest, ".")
	_, err := strconv.ParseUint(domain, 10, 16)
	_, err2 := strconv.ParseUint(route, 16, 64)
	_, err3 := strconv.ParseUint(number, 10, 16)
	return errors.Join(err, err2, err3) == nil
}

// endOf returns the ranks at one end of a cable.
func endOf(name string, peers []Peer) (ranks []int, addr netip.Addr, err error) {
	if r, err := strconv.Atoi(name); err == nil {
		if r < 0 || r >= len(peers) {
			return nil, addr, badConfig(fieldEdges, "there is no rank %d in a job of %d", r, len(peers))
		}
		return []int{r}, addr, nil
	}
	for r, p := range peers {
		if p.Host != name {
			continue
		}
		if ranks = append(ranks, r); p.Machine != peers[ranks[0]].Machine {
			return nil, addr, badConfig(fieldEdges, "%q is the name of two machines, of rank %d and of rank %d; "+
				"name the ends of their cables by rank or address", name, ranks[0], r)
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
