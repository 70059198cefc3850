package doctor

import (
	"fmt"
	"slices"
	"strings"

	"thundercollective/internal/topology"
)

// compareMachines makes the checks that compare machines.
func (x *examiner) compareMachines() {
	if len(x.g.Machines) < 2 {
		return
	}
	x.shape()
	x.sameMTU()
	x.sameSystem()
}

func (x *examiner) shape() {
	g := x.g
	c := Check{ID: "all.shape", Phase: Physical, Title: "cabling", Status: Pass, Command: "thunder topo", Target: "mesh or ring", Actual: g.Sentence()}
	var plugs []string
	for _, p := range g.Plug {
		plugs = append(plugs, p.String())
	}
	c.Fix = strings.Join(plugs, "; ")
	switch g.Shape.Name {
	case topology.Mesh:
	case topology.Ring:
		c.Status = Note
		if len(plugs) == 1 {
			c.Status, c.Cause = Warn, "one cable is missing for a mesh, in which every pair has a direct cable"
		}
	case topology.Switched:
		c.Title, c.Target = "network", "a network that all machines share"
	case topology.Broken:
		c.Status, c.Cause = Fail, "some machines cannot reach each other by cable"
		if unread := unreadPorts(g); len(unread) > 0 {
			c.Status, c.Fix = Skip, ""
			c.Actual = "unknown: the ports of " + strings.Join(unread, ", ") + " could not be read"
			c.Cause = "see above what could not be read"
		} else if !anyThunderbolt(g) {
			c.Status, c.Cause, c.Fix = Absent, "", ""
			c.Actual = "no cables: these machines have no Thunderbolt"
		}
	default:
		c.Status, c.Cause = Warn, "traffic between machines without a direct cable passes through others"
	}
	x.add(c)
}

// sameMTU checks that machines on a switch send packets of the same size: those of the
// largest size do not reach a machine that takes smaller ones.
func (x *examiner) sameMTU() {
	if x.g.Shape.Name != topology.Switched {
		return
	}
	for _, n := range x.g.Networks {
		c := Check{ID: "all.mtu", Phase: TCP, Title: "packet size", Status: Pass, Command: "ip link", Target: "the same MTU on all machines of " + n.Prefix.String()}
		var parts []string
		sizes := map[int]bool{}
		for _, e := range n.Ends {
			if itf := x.g.Interface(e); itf != nil {
				sizes[itf.MTU] = true
				parts = append(parts, fmt.Sprintf("%s %s %d", e.Host, e.Interface, itf.MTU))
			}
		}
		c.Actual = strings.Join(parts, ", ")
		if len(sizes) > 1 {
			c.Status, c.Cause = Warn, "packets of the largest size are lost on the way to machines that take smaller ones, and connections stall"
			c.Fix = "set the same MTU on all of them, one that the switch carries: sudo ip link set dev INTERFACE mtu 1500"
		}
		x.add(c)
	}
}

func unreadPorts(g *topology.Graph) []string {
	var out []string
	for _, m := range g.Machines {
		if m.PortsUnknown() {
			out = append(out, m.Host)
		}
	}
	return out
}

func anyThunderbolt(g *topology.Graph) bool {
	for _, m := range g.Machines {
		if m.Thunderbolt.Controllers > 0 {
			return true
		}
	}
	return len(g.Cables) > 0
}

// sameSystem checks that all Macs run the same build: Apple's RDMA changed between
// builds.
func (x *examiner) sameSystem() {
	builds := map[string][]string{}
	for _, m := range x.g.Machines {
		if m.OS.Kind == "darwin" && m.OS.Build != "" {
			key := m.OS.Version + " (" + m.OS.Build + ")"
			builds[key] = append(builds[key], m.Host)
		}
	}
	if len(builds) == 0 {
		return
	}
	c := Check{ID: "all.build", Phase: RDMA, Title: "same macOS", Status: Pass, Command: "sw_vers", Target: "the same build on all Macs"}
	var parts []string
	for b, hosts := range builds {
		parts = append(parts, fmt.Sprintf("%s on %s", b, strings.Join(hosts, ", ")))
	}
	slices.Sort(parts)
	c.Actual = strings.Join(parts, "; ")
	if len(builds) > 1 {
		c.Status, c.Cause, c.Fix = Warn, "different builds may fail to connect to each other over RDMA", "update all machines to the newest of these builds"
	}
	x.add(c)
}
