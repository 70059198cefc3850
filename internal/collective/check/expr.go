package check

import "fmt"

// An expr names an expression. Equal expressions have equal names.
type expr int32

// undefined is the value of memory that nobody has written.
const undefined expr = 0

// A node says what an expression is made of.
type node struct {
	ranks uint64 // whose contributions it holds
	elem  int    // which element of the vector it belongs to
	final bool   // whether an average has been divided
}

// A universe holds the expressions of one run.
type universe struct {
	nodes  []node
	leaves [][]expr         // by rank, then by position in its contribution
	pairs  map[[2]expr]expr // left, right
	finals map[expr]expr
}

func newUniverse(ranks int) *universe {
	return &universe{
		nodes:  make([]node, 1), // number 0 is undefined
		leaves: make([][]expr, ranks),
		pairs:  make(map[[2]expr]expr),
		finals: make(map[expr]expr),
	}
}

func (u *universe) add(n node) expr {
	u.nodes = append(u.nodes, n)
	return expr(len(u.nodes) - 1)
}

// leaf is element pos of what rank contributes.
func (u *universe) leaf(rank, pos int) expr {
	for len(u.leaves[rank]) <= pos {
		n := len(u.leaves[rank])
		u.leaves[rank] = append(u.leaves[rank], u.add(node{ranks: 1 << rank, elem: n}))
	}
	return u.leaves[rank][pos]
}

// combine is left op right.
func (u *universe) combine(left, right expr) (expr, error) {
	if e, ok := u.pairs[[2]expr{left, right}]; ok {
		return e, nil
	}
	a, b := u.nodes[left], u.nodes[right]
	switch {
	case left == undefined || right == undefined:
		return 0, fmt.Errorf("reduces an undefined element")
	case a.elem != b.elem:
		return 0, fmt.Errorf("reduces element %d with element %d", a.elem, b.elem)
	case a.ranks&b.ranks != 0:
		return 0, fmt.Errorf("reduces element %d with contributions of ranks %b twice", a.elem, a.ranks&b.ranks)
	case a.final || b.final:
		return 0, fmt.Errorf("reduces element %d after it was final", a.elem)
	}
	e := u.add(node{ranks: a.ranks | b.ranks, elem: a.elem})
	u.pairs[[2]expr{left, right}] = e
	return e, nil
}

// finish is e once it is complete.
func (u *universe) finish(e expr, all uint64) (expr, error) {
	if f, ok := u.finals[e]; ok {
		return f, nil
	}
	n := u.nodes[e]
	if n.ranks != all {
		return 0, fmt.Errorf("calls element %d final with contributions of ranks %b only", n.elem, n.ranks)
	}
	n.final = true
	f := u.add(n)
	u.finals[e] = f
	return f, nil
}
