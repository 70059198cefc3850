package cabling

import (
	"fmt"
	"slices"
	"strings"
)

// An Edge is a cable between two ranks.
type Edge struct {
	A, B int
	Gbps float64 // in each direction; 0 if unknown
}

// A Graph is a set of ranks and the cables between them.
type Graph struct {
	n     int
	names []string
	rate  [][]float64 // Gb/s between two ranks, over all their cables; 0 if not connected
	hops  [][]int     // distance; -1 if not reachable
}

// New returns the graph of the ranks with the given machine names. Ranks with the same
// name are on one machine and need no cable. It is an error if a rank cannot be reached.
func New(names []string, edges []Edge) (*Graph, error) {
	n := len(names)
	g := &Graph{n: n, names: names, rate: make([][]float64, n)}
	for r := range g.rate {
		g.rate[r] = make([]float64, n)
	}
	most := 0.0
	for _, e := range edges {
		if e.A < 0 || e.B < 0 || e.A >= n || e.B >= n || e.A == e.B {
			return nil, fmt.Errorf("invalid cable between rank %d and rank %d of %d ranks", e.A, e.B, n)
		}
		w := e.Gbps
		if w == 0 {
			w = 1
		}
		g.rate[e.A][e.B] += w
		g.rate[e.B][e.A] += w
		most = max(most, g.rate[e.A][e.B])
	}
	for a := range n {
		for b := range n {
			if a != b && names[a] == names[b] {
				g.rate[a][b] = 100 * max(most, 1) // memory
			}
		}
	}
	g.measure()
	return g, g.reachable()
}

// measure computes all distances.
func (g *Graph) measure() {
	g.hops = make([][]int, g.n)
	for from := range g.n {
		d := make([]int, g.n)
		for i := range d {
			d[i] = -1
		}
		d[from] = 0
		for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
			for to := range g.n {
				if g.rate[queue[0]][to] > 0 && d[to] < 0 {
					d[to] = d[queue[0]] + 1
					queue = append(queue, to)
				}
			}
		}
		g.hops[from] = d
	}
}

// reachable returns an error that names the ranks that rank 0 cannot reach.
func (g *Graph) reachable() error {
	var without []string
	for r, d := range g.hops[0] {
		if d < 0 {
			without = append(without, fmt.Sprintf("rank %d on %s", r, g.names[r]))
		}
	}
	if without == nil {
		return nil
	}
	return fmt.Errorf("no cables lead from rank 0 on %s to %s; add the missing ones to the edges", g.names[0], strings.Join(without, ", "))
}

// Size returns the number of ranks.
func (g *Graph) Size() int { return g.n }

// Joined reports whether two ranks are connected by a cable.
func (g *Graph) Joined(a, b int) bool { return g.rate[a][b] > 0 }

// Gbps returns the rate between two ranks over all their cables, counting 1 for a cable
// of unknown rate; 0 if they have none.
func (g *Graph) Gbps(a, b int) float64 { return g.rate[a][b] }

// Complete reports whether every rank is connected to every other by a cable.
func (g *Graph) Complete() bool {
	for a := range g.n {
		for b := range g.n {
			if a != b && g.rate[a][b] == 0 {
				return false
			}
		}
	}
	return true
}

// Hop returns the next rank on the way to another: the one nearest to the destination,
// of these the one over the fastest cable, of these the lowest. So the ways of all ranks
// to one destination form a tree.
func (g *Graph) Hop(from, to int) int {
	best := -1
	for r := range g.n {
		if g.rate[from][r] == 0 || g.hops[r][to] != g.hops[from][to]-1 {
			continue
		}
		if best < 0 || g.rate[from][r] > g.rate[from][best] {
			best = r
		}
	}
	return best
}

// Between lists the ranks that relay messages from one rank to another, in order; none
// if the two are connected by a cable.
func (g *Graph) Between(from, to int) []int {
	var list []int
	for r := g.Hop(from, to); r != to && r >= 0; r = g.Hop(r, to) {
		list = append(list, r)
	}
	return list
}

// Part returns the graph of some of the ranks, numbered by their index in ranks. Two that
// are connected only through ranks outside the list count as connected by a cable with
// the rate of the slowest on the way.
func (g *Graph) Part(ranks []int) (*Graph, error) {
	var edges []Edge
	names := make([]string, len(ranks))
	for i, a := range ranks {
		names[i] = g.names[a]
		for j := range i {
			b := ranks[j]
			if g.Joined(a, b) {
				edges = append(edges, Edge{A: j, B: i, Gbps: g.rate[a][b]})
			} else if way := g.Between(a, b); !slices.ContainsFunc(way, func(r int) bool { return slices.Contains(ranks, r) }) {
				edges = append(edges, Edge{A: j, B: i, Gbps: g.slowest(a, b)})
			}
		}
	}
	return New(names, edges)
}

// slowest returns the rate of the slowest cable on the way between two ranks.
func (g *Graph) slowest(from, to int) float64 {
	w := 0.0
	for from != to {
		next := g.Hop(from, to)
		if w == 0 || g.rate[from][next] < w {
			w = g.rate[from][next]
		}
		from = next
	}
	return w
}
