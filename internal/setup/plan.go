package setup

import (
	"errors"
	"fmt"
	"net/netip"

	"thundercollective/internal/topology"
	"thundercollective/internal/topology/probe"
)

// A Plan describes how to set up the ports of one machine.
type Plan struct {
	Host  string `json:"host"`
	SSH   string `json:"ssh,omitempty"` // ssh destination; empty for this machine
	OS    string `json:"os"`            // "linux" or "darwin"
	Ports []Port `json:"ports"`
}

// A Port describes how to set up one interface.
type Port struct {
	Interface string       `json:"interface"`
	MAC       string       `json:"mac,omitempty"`
	Cable     string       `json:"cable"` // for messages: "studio-a port 3 – studio-b port 3"
	Address   netip.Prefix `json:"address"`
	Peer      netip.Addr   `json:"peer"` // the other end's address
	MTU       int          `json:"mtu"`
}

// The largest MTUs that work: 9000 on a Thunderbolt port of macOS, almost 64 KiB with
// thunderbolt-net of Linux.
const (
	mtuDarwin = 9000
	mtuLinux  = 65520
)

// ErrNothingToDo means that no port has a cable to another computer.
var ErrNothingToDo = errors.New("no Thunderbolt cable to another computer, so there is nothing to set up")

// MakePlans returns a plan for every machine of a graph. It leaves out cables that only
// one end sees, or whose interface is unknown, and lists them in skipped.
func MakePlans(g *topology.Graph) (plans []Plan, skipped []string, err error) {
	addrs := newAllocator(g)
	plans = make([]Plan, len(g.Machines))
	for i, m := range g.Machines {
		plans[i] = Plan{Host: m.Host, SSH: m.SSH, OS: m.OS.Kind}
	}
	total := 0
	for i := range g.Cables {
		c := &g.Cables[i]
		if c.Kind != topology.Thunderbolt || !c.A.Known() || c.A.Machine == c.B.Machine {
			continue
		}
		if why := unusable(g, c); why != "" {
			skipped = append(skipped, fmt.Sprintf("%s: %s", c, why))
			continue
		}
		net, err := addrs.subnet(g, c)
		if err != nil {
			return nil, skipped, err
		}
		mtu := min(maxMTU(g, c.A), maxMTU(g, c.B))
		for e, end := range [2]topology.End{c.A, c.B} {
			itf := g.Interface(end)
			if itf == nil {
				continue // the far machine is not in the graph
			}
			plans[end.Machine].Ports = append(plans[end.Machine].Ports, Port{
				Interface: itf.Name, MAC: itf.MAC, Cable: c.String(), MTU: mtu,
				Address: netip.PrefixFrom(net.ends[e], net.prefix.Bits()), Peer: net.ends[1-e],
			})
			total++
		}
	}
	if total == 0 {
		return nil, skipped, ErrNothingToDo
	}
	return plans, skipped, nil
}

// unusable returns why a cable cannot be set up, or "" if it can.
func unusable(g *topology.Graph, c *topology.Cable) string {
	if c.B.Known() && c.Match == topology.ByOneEnd {
		return "only one end sees it; push both plugs in"
	}
	for _, e := range []topology.End{c.A, c.B} {
		if e.Known() && g.Interface(e) == nil {
			return "no network interface on " + e.Host + "; run thunder doctor to learn why"
		}
	}
	return ""
}

func maxMTU(g *topology.Graph, e topology.End) int {
	if !e.Known() {
		return mtuDarwin // works on both systems
	}
	m, itf := g.Machines[e.Machine], g.Interface(e)
	if m.OS.Kind == "linux" {
		if itf.MaxMTU > 0 {
			return min(mtuLinux, itf.MaxMTU)
		}
		return mtuLinux
	}
	return mtuDarwin
}

// Validate returns an error if the plan, which may come from another machine, does
// anything else than set up ports.
func (p *Plan) Validate() error {
	if p.OS != "linux" && p.OS != "darwin" {
		return fmt.Errorf("plan for %s: operating system %q is not supported", p.Host, p.OS)
	}
	seen := map[string]bool{}
	for _, port := range p.Ports {
		switch {
		case !validName(port.Interface):
			return fmt.Errorf("plan for %s: %q is not an interface name", p.Host, port.Interface)
		case seen[port.Interface]:
			return fmt.Errorf("plan for %s: interface %s occurs twice", p.Host, port.Interface)
		case !port.Address.IsValid() || !port.Address.Addr().Is4() || !port.Address.Addr().IsPrivate() || port.Address.Bits() < 24:
			return fmt.Errorf("plan for %s: %s: %v is not a private IPv4 address in a small network (/24 to /32)", p.Host, port.Interface, port.Address)
		case port.MTU < 1280 || port.MTU > 65535:
			return fmt.Errorf("plan for %s: %s: MTU %d is out of range (1280 to 65535)", p.Host, port.Interface, port.MTU)
		}
		seen[port.Interface] = true
	}
	return nil
}

// validName reports whether s can be the name of an interface other than loopback, and
// cannot be taken for an option or a path by a command.
func validName(s string) bool {
	if s == "" || len(s) > 15 || s[0] == '-' || s == "lo" || s == "lo0" {
		return false
	}
	for _, r := range s {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
		if !ok {
			return false
		}
	}
	return s != "." && s != ".."
}

// interfaceState returns the state of an interface that a plan may change.
func interfaceState(itf *probe.Interface) State {
	s := State{Interface: itf.Name, MTU: itf.MTU, Up: itf.Up, Bridge: itf.Bridge}
	for _, a := range itf.Addrs {
		if a.Addr().Is4() {
			s.IPv4 = append(s.IPv4, a)
		}
	}
	return s
}
