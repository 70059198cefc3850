package topology

import (
	"fmt"
	"slices"

	"thundercollective/internal/plural"
)

// Names of shapes.
const (
	Alone    = "alone"    // one machine
	Mesh     = "mesh"     // every pair has a cable
	Ring     = "ring"     // a closed path visits every machine once
	Chain    = "chain"    // an open path visits every machine once
	Branched = "branched" // all are connected, but no path visits every machine once
	Switched = "switched" // no cables from machine to machine, but a network that all share
	Broken   = "broken"   // some machines are not connected by cable
)

// A Shape is the form of the cabling.
type Shape struct {
	Name string `json:"name"`
	// Order lists the machines of a ring or chain along their cables.
	Order []int `json:"order,omitempty"`
	// Missing are the pairs that have no cable, as a mesh would need.
	Missing [][2]int `json:"missing,omitempty"`
	// Islands are the groups of connected machines, if there is more than one.
	Islands [][]int `json:"islands,omitempty"`
}

// maxWalk limits the steps of the search for a ring or chain. If it is reached, the
// shape counts as branched.
const maxWalk = 2_000_000

func shapeOf(n int, cables []Cable) Shape {
	joined := make([][]bool, n)
	for i := range joined {
		joined[i] = make([]bool, n)
	}
	for _, c := range cables {
		if c.A.Known() && c.B.Known() && c.A.Machine != c.B.Machine && c.Match != ByOneEnd {
			joined[c.A.Machine][c.B.Machine] = true
			joined[c.B.Machine][c.A.Machine] = true
		}
	}
	if n < 2 {
		return Shape{Name: Alone}
	}
	var s Shape
	for a := range n {
		for b := a + 1; b < n; b++ {
			if !joined[a][b] {
				s.Missing = append(s.Missing, [2]int{a, b})
			}
		}
	}
	w := walker{joined: joined, left: maxWalk}
	switch islands := islandsOf(joined); {
	case len(s.Missing) == 0:
		s.Name = Mesh
		for i := range n {
			s.Order = append(s.Order, i)
		}
	case len(islands) > 1:
		s.Name, s.Islands = Broken, islands
	case w.search(true):
		s.Name, s.Order = Ring, w.path
	case w.search(false):
		s.Name, s.Order = Chain, w.path
	default:
		s.Name = Branched
	}
	return s
}

// A walker searches a path that visits every machine once.
type walker struct {
	joined [][]bool
	path   []int
	left   int
}

func (w *walker) search(closed bool) bool {
	starts := len(w.joined)
	if closed {
		starts = 1 // a ring contains machine 0
	}
	for s := range starts {
		w.path = []int{s}
		if w.extend(closed) {
			return true
		}
	}
	return false
}

func (w *walker) extend(closed bool) bool {
	if w.left--; w.left < 0 {
		return false
	}
	last := w.path[len(w.path)-1]
	if len(w.path) == len(w.joined) {
		return !closed || w.joined[last][w.path[0]]
	}
	for next, ok := range w.joined[last] {
		if ok && !slices.Contains(w.path, next) {
			w.path = append(w.path, next)
			if w.extend(closed) {
				return true
			}
			w.path = w.path[:len(w.path)-1]
		}
	}
	return false
}

func islandsOf(joined [][]bool) [][]int {
	seen := make([]bool, len(joined))
	var out [][]int
	for start := range joined {
		if seen[start] {
			continue
		}
		seen[start] = true
		island := []int{start}
		for i := 0; i < len(island); i++ {
			for next, ok := range joined[island[i]] {
				if ok && !seen[next] {
					seen[next] = true
					island = append(island, next)
				}
			}
		}
		slices.Sort(island)
		out = append(out, island)
	}
	return out
}

// Sentence describes the shape in words.
func (g *Graph) Sentence() string {
	n, s := len(g.Machines), g.Shape
	pairs := n * (n - 1) / 2
	switch s.Name {
	case Alone:
		if len(g.Cables) == 0 {
			return "One machine, no cable to another."
		}
		return fmt.Sprintf("One machine; %s to %s not queried (add them with --hosts).", plural.Count(len(g.Cables), "cable"), plural.Count(len(g.Cables), "machine"))
	case Mesh:
		if n == 2 {
			return fmt.Sprintf("Mesh: the two machines are joined by %s.", plural.Count(len(g.Between(0, 1)), "cable"))
		}
		return fmt.Sprintf("Mesh: all %d pairs of %d machines are joined.", pairs, n)
	case Ring:
		text := "Ring: " + g.walk(true)
		if missing := len(s.Missing); missing <= n/2 && pairs-missing > n {
			text = fmt.Sprintf("Ring, nearly a mesh (%d of %d pairs joined): %s", pairs-missing, pairs, g.walk(true))
		}
		return text
	case Chain:
		return "Chain: " + g.walk(false)
	case Switched:
		who := fmt.Sprintf("all %d machines", n)
		if n == 2 {
			who = "both machines"
		}
		network := g.common()[0]
		return fmt.Sprintf("Switched: %s are joined by %s.", who, network.String())
	case Branched:
		return "Branched: every machine can be reached, but neither ring nor chain visits them all."
	}
	var text string
	for i, island := range s.Islands {
		if i > 0 {
			text += " | "
		}
		for j, m := range island {
			if j > 0 {
				text += ", "
			}
			text += g.Machines[m].Host
		}
	}
	return "Broken: no cable between these groups: " + text + "."
}

func (g *Graph) walk(closed bool) string {
	var text string
	for i, m := range g.Shape.Order {
		if i > 0 {
			text += " – "
		}
		text += g.Machines[m].Host
	}
	if closed {
		text += " – " + g.Machines[g.Shape.Order[0]].Host
	}
	return text + "."
}
