package cabling

import (
	"cmp"
	"slices"
)

// ringSteps bounds the search for a ring, which is hard in general and easy for the
// small graphs that occur in practice.
const ringSteps = 1 << 18

// Ring returns the ranks in an order in which each is connected to the next, and the last
// to the first, such that the slowest cable is as fast as possible. It also returns that
// rate. The order is nil if there is none, or none was found.
func (g *Graph) Ring() ([]int, float64) {
	if g.n < 3 {
		return nil, 0
	}
	for _, w := range g.rates() {
		if ring := g.ringOver(w); ring != nil {
			return ring, w
		}
	}
	return nil, 0
}

// rates lists the distinct rates, the highest first.
func (g *Graph) rates() []float64 {
	var ws []float64
	for a := range g.n {
		for b := range a {
			if g.rate[a][b] > 0 {
				ws = append(ws, g.rate[a][b])
			}
		}
	}
	slices.SortFunc(ws, func(a, b float64) int { return cmp.Compare(b, a) })
	return slices.Compact(ws)
}

// ringOver searches for a ring over cables of at least rate w, starting at rank 0. It
// tries ranks with few unused neighbours first, which are hard to reach later.
func (g *Graph) ringOver(w float64) []int {
	near := make([][]int, g.n)
	for a := range g.n {
		for b := range g.n {
			if g.rate[a][b] >= w {
				near[a] = append(near[a], b)
			}
		}
		if len(near[a]) < 2 {
			return nil
		}
	}
	used := make([]bool, g.n)
	ring := []int{0}
	used[0] = true
	steps := 0
	free := func(r int) int {
		k := 0
		for _, b := range near[r] {
			if !used[b] {
				k++
			}
		}
		return k
	}
	var walk func() bool
	walk = func() bool {
		if steps++; steps > ringSteps {
			return false
		}
		at := ring[len(ring)-1]
		if len(ring) == g.n {
			return g.rate[at][0] >= w
		}
		var next []int
		for _, b := range near[at] {
			if !used[b] {
				next = append(next, b)
			}
		}
		slices.SortStableFunc(next, func(a, b int) int { return free(a) - free(b) })
		for _, b := range next {
			ring, used[b] = append(ring, b), true
			if walk() {
				return true
			}
			ring, used[b] = ring[:len(ring)-1], false
		}
		return false
	}
	if !walk() {
		return nil
	}
	return ring
}

// Tree returns the parent of each rank in a spanning tree, -1 for its root, and the rate
// of its slowest cable, which is as fast as possible. The root is in the middle, so that
// the tree is as low as possible.
func (g *Graph) Tree() ([]int, float64) {
	parent := make([]int, g.n)
	in := make([]bool, g.n)
	in[0], parent[0] = true, -1
	near := make([][]int, g.n)
	slowest := 0.0
	for range g.n - 1 {
		from, to := -1, -1
		for a := range g.n {
			for b := range g.n {
				if in[a] && !in[b] && g.rate[a][b] > 0 && (to < 0 || g.rate[a][b] > g.rate[from][to]) {
					from, to = a, b
				}
			}
		}
		if slowest == 0 || g.rate[from][to] < slowest {
			slowest = g.rate[from][to]
		}
		in[to] = true
		near[from], near[to] = append(near[from], to), append(near[to], from)
	}
	// The middle of the longest path is the root.
	far := func(from int) (last int, prev []int) {
		prev = make([]int, g.n)
		for i := range prev {
			prev[i] = -2
		}
		prev[from] = -1
		last = from
		for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
			last = queue[0]
			for _, b := range near[last] {
				if prev[b] == -2 {
					prev[b] = last
					queue = append(queue, b)
				}
			}
		}
		return last, prev
	}
	end, _ := far(0)
	other, prev := far(end)
	var way []int
	for r := other; r >= 0; r = prev[r] {
		way = append(way, r)
	}
	_, parent = far(way[len(way)/2])
	return parent, slowest
}

// Shape is how a large reduction is carried out.
type Shape int

// The shapes.
const (
	RingShape Shape = iota // both ways around a ring
	TreeShape              // up and down a tree
	MeshShape              // directly between all ranks
)

func (s Shape) String() string {
	switch s {
	case RingShape:
		return "ring"
	case TreeShape:
		return "tree"
	}
	return "mesh"
}

// Best returns the shape in which a large all-reduce is fastest, and its speed: the size
// of the vector over the time, in Gb/s.
func (g *Graph) Best() (Shape, float64) {
	if g.n < 2 {
		return RingShape, 0
	}
	n := float64(g.n)
	_, w := g.Tree()
	best, speed := TreeShape, w
	if ring, w := g.Ring(); ring != nil && w*n/(n-1) >= speed {
		best, speed = RingShape, w*n/(n-1)
	}
	if ws := g.rates(); g.Complete() && ws[len(ws)-1]*n/2 > speed {
		best, speed = MeshShape, ws[len(ws)-1]*n/2
	}
	return best, speed
}

// boundRanks is the largest graph for which Bound tries all partitions.
const boundRanks = 8

// Bound returns an upper bound for the speed of an all-reduce, in Gb/s, with any packing
// of trees into the cables; 0 for graphs that are too large to compute it.
func (g *Graph) Bound() float64 {
	if g.n < 2 || g.n > boundRanks {
		return 0
	}
	least := -1.0
	part := make([]int, g.n)
	var try func(r, parts int)
	try = func(r, parts int) {
		if r < g.n {
			for p := range parts + 1 {
				part[r] = p
				try(r+1, max(parts, p+1))
			}
			return
		}
		if parts < 2 {
			return
		}
		sum := 0.0
		for a := range g.n {
			for b := range a {
				if part[a] != part[b] {
					sum += g.rate[a][b]
				}
			}
		}
		if w := sum / float64(parts-1); least < 0 || w < least {
			least = w
		}
	}
	try(0, 0)
	return least
}
