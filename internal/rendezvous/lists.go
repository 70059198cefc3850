package rendezvous

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"thundercollective/internal/rendezvous/handshake"
)

// Lists returns what the other ranks must have been told about the job too. Hostfiles
// must list the same addresses; address lists the same number, and the same ranks on one
// machine, since ranks may know each other by different addresses. With a coordinator
// only the cables may differ.
func (r *Roster) Lists() *handshake.Roster {
	const same = "give all ranks the same hostfile or the same addresses"
	var lines []handshake.Line
	if r.way == Explicit || r.way == FromHostfile {
		for rank, p := range r.Peers {
			l := handshake.Line{Name: fmt.Sprintf("rank %d is at", rank), Fix: same, Shape: fmt.Sprintf("%d addresses", len(p.Addrs))}
			if len(p.Addrs) == 1 {
				l.Shape = "1 address"
			}
			l.Shape += r.shares(rank)
			if r.way == FromHostfile {
				l.Text = r.listed(rank) + r.shares(rank)
			}
			lines = append(lines, l)
		}
	}
	cables := r.cables()
	return handshake.NewRoster(append(lines, handshake.Line{
		Name: "the cables are", Fix: "give all ranks the same --edges (THUNDER_EDGES) or hostfile", Shape: cables, Text: cables,
	}))
}

// shares says whose machine a rank shares; "" if it is the first there.
func (r *Roster) shares(rank int) string {
	if first := slices.IndexFunc(r.Peers, func(p Peer) bool { return p.Machine == r.Peers[rank].Machine }); first < rank {
		return fmt.Sprintf(" (on the machine of rank %d)", first)
	}
	return ""
}

// listed returns the addresses of a rank without zones, which each machine has its own of.
func (r *Roster) listed(rank int) string {
	var list []string
	for _, addr := range r.Peers[rank].Addrs {
		if e, err := parseEndpoint(addr); err == nil {
			e.ip = e.ip.WithZone("")
			addr = e.String()
		}
		list = append(list, addr)
	}
	return strings.Join(list, ", ")
}

// cables returns the edges in an order that does not depend on how they were written.
func (r *Roster) cables() string {
	if len(r.Edges) == 0 {
		return "not listed"
	}
	list := make([]string, len(r.Edges))
	for i, e := range r.Edges {
		if e.A > e.B {
			e = Edge{A: e.B, B: e.A, Gbps: e.Gbps, AddrA: e.AddrB, AddrB: e.AddrA, ServiceA: e.ServiceB, ServiceB: e.ServiceA}
		}
		list[i] = endText(e.A, e.AddrA, e.ServiceA) + "=" + endText(e.B, e.AddrB, e.ServiceB)
		if e.Gbps > 0 {
			list[i] += fmt.Sprintf("@%g", e.Gbps)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// endText describes the end of a cable: "1", "1/0-3.1" or "1 at 10.0.0.1".
func endText(rank int, addr netip.Addr, service string) string {
	text := fmt.Sprint(rank)
	if service != "" {
		text += "/" + service
	}
	if addr.IsValid() {
		text += " at " + addr.WithZone("").String()
	}
	return text
}
