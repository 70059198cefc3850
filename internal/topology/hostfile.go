package topology

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"thundercollective/internal/rendezvous"
)

// Formats of a hostfile.
const (
	FormThunder = "thunder" // all addresses and all cables, for thunder launch and bench
	FormMLX     = "mlx"     // for mlx.launch; thunder launch and bench read it too
)

// ErrNoAddress is wrapped by the error for a machine that has no address which the
// others could reach.
var ErrNoAddress = errors.New("no address to reach it at")

// Hostfile lists the machines with their addresses on the cables, in the order of the
// ring if there is one. The addresses of two machines are in the order of the cables, so
// that rail k of one leads to rail k of the other. A machine whose cables have no
// addresses is listed with its address in a network that all machines share.
func (g *Graph) Hostfile() (*rendezvous.Hostfile, error) {
	return g.hostfile(func(from int) []string {
		var out []string
		for i := range g.Cables {
			c := &g.Cables[i]
			if c.Transport == OverNone {
				continue
			}
			for _, e := range []End{c.A, c.B} {
				if e.Machine == from {
					out = append(out, g.address(e)...)
				}
			}
		}
		return out
	})
}

// mlxHostfile returns the hostfile for MLX. In a mesh of three or more machines with
// RDMA, MLX needs addresses in a network that all share, and sends data over RDMA. In a
// ring, it needs the address on the cable from the previous machine.
func (g *Graph) mlxHostfile() (*rendezvous.Hostfile, error) {
	order := g.order()
	rdma := slices.ContainsFunc(g.Cables, func(c Cable) bool { return c.Transport == OverRDMA })
	return g.hostfile(func(m int) []string {
		if rdma && g.Shape.Name == Mesh && len(order) > 2 {
			if a := g.shared(m); len(a) > 0 {
				return a
			}
		}
		k := slices.Index(order, m)
		prev := order[(k+len(order)-1)%len(order)]
		var out []string
		for _, c := range g.Between(prev, m) {
			for _, e := range []End{c.A, c.B} {
				if e.Machine == m && c.Transport != OverNone {
					out = append(out, g.address(e)...)
				}
			}
		}
		return out
	})
}

func (g *Graph) hostfile(addrs func(machine int) []string) (*rendezvous.Hostfile, error) {
	order := g.order()
	h := &rendezvous.Hostfile{}
	for _, m := range order {
		host := rendezvous.Host{Name: g.Machines[m].Host, SSH: cmp.Or(g.Machines[m].SSH, g.Machines[m].Host), Addrs: addrs(m)}
		if len(host.Addrs) == 0 {
			host.Addrs = g.shared(m)
		}
		if len(host.Addrs) == 0 {
			return nil, fmt.Errorf("hostfile: %s: %w: it shares no network with all other machines; assign addresses to its ports with thunder setup, or to its network card", host.Name, ErrNoAddress)
		}
		host.RDMA = g.rdmaRow(m, order)
		h.Hosts = append(h.Hosts, host)
	}
	for i := range g.Cables {
		if c := &g.Cables[i]; c.Transport != OverNone {
			h.Edges = append(h.Edges, [2]string{c.A.Host, c.B.Host})
		}
	}
	if !joinsAll(h) {
		// Some machines are reached only over another network. Readers take edges
		// as complete, so leave them out.
		h.Edges = nil
	}
	return h, nil
}

// joinsAll reports whether the edges connect all hosts.
func joinsAll(h *rendezvous.Hostfile) bool {
	if len(h.Hosts) == 0 {
		return true
	}
	reached := map[string]bool{h.Hosts[0].Name: true}
	for grown := true; grown; {
		grown = false
		for _, e := range h.Edges {
			if reached[e[0]] != reached[e[1]] {
				reached[e[0]], reached[e[1]], grown = true, true, true
			}
		}
	}
	return len(reached) == len(h.Hosts)
}

// rdmaRow returns the devices that lead from a machine to each other one; nil if there
// are none.
func (g *Graph) rdmaRow(m int, order []int) [][]string {
	row, any := make([][]string, len(order)), false
	for k, other := range order {
		for _, c := range g.Between(m, other) {
			for _, e := range []End{c.A, c.B} {
				if other != m && e.Machine == m && c.Transport == OverRDMA {
					row[k], any = append(row[k], e.RDMA), true
				}
			}
		}
	}
	if !any {
		return nil
	}
	return row
}

// order returns the machines in the order of ranks.
func (g *Graph) order() []int {
	if len(g.Shape.Order) == len(g.Machines) {
		return g.Shape.Order
	}
	out := make([]int, len(g.Machines))
	for i := range out {
		out[i] = i
	}
	return out
}

func (g *Graph) address(e End) []string {
	if itf := g.Interface(e); itf != nil {
		if p, ok := itf.IPv4(); ok {
			return []string{p.Addr().String()}
		}
	}
	return nil
}

// shared returns a machine's address in a network that all machines share; without cables,
// its addresses in all such networks, which are then the rails.
func (g *Graph) shared(m int) []string {
	var out []string
	for _, n := range g.common() {
		for _, e := range n.Ends {
			if e.Machine == m && (len(out) == 0 || g.Shape.Name == Switched) {
				out = append(out, g.address(e)...)
			}
		}
	}
	return out
}

// MarshalHostfile returns the hostfile as text. If form is empty, it chooses the format
// that the most programs can read: MLX's for two machines, where it loses nothing, and
// this library's otherwise.
func (g *Graph) MarshalHostfile(form string) ([]byte, error) {
	if form == "" {
		form = FormThunder
		if len(g.Machines) == 2 && len(g.Cables) > 0 {
			form = FormMLX
		}
	}
	switch form {
	case FormThunder:
		h, err := g.Hostfile()
		if err != nil {
			return nil, err
		}
		return h.Marshal()
	case FormMLX:
		h, err := g.mlxHostfile()
		if err != nil {
			return nil, err
		}
		return h.MarshalMLX()
	}
	return nil, fmt.Errorf("hostfile: format %q is neither %q nor %q", form, FormThunder, FormMLX)
}
