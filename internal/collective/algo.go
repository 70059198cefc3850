package collective

import (
	"fmt"
	"slices"
)

// An Algo is a way to perform a collective. The numbers travel in message tags,
// so they never change their meaning.
type Algo uint8

// The algorithms. Not every operation has each of them: see Algos.
const (
	// Auto leaves the choice to Choose; a schedule is never built from it.
	Auto Algo = iota
	// Ring passes blocks from neighbour to neighbour; for Broadcast and Reduce
	// it is the pipelined chain that ends or starts at the root.
	Ring
	// BiRing is two rings in opposite directions, half of the data each. With
	// two ranks it is Ring.
	BiRing
	// Direct talks to every peer at once: the fewest steps and the most bytes.
	Direct
	// Doubling doubles what each rank knows in every step: recursive doubling
	// for AllReduce, a circulant all-gather, the dissemination barrier.
	Doubling
	// HalvingDoubling halves what is still to reduce in every step, then doubles
	// what is known: as few bytes as Ring in logarithmically many steps.
	HalvingDoubling
	// Tree is the binomial tree.
	Tree
	// Cable is the tree along the cables (Spec.Cables); without, the chain of the
	// ranks in their order.
	Cable
	// Mesh has every rank own a block that all others send it their part of, and
	// that it sends to all others.
	Mesh
	// Hier works within hosts first (Spec.Hosts), so that as little as
	// possible crosses between them; where no ranks share a host, or all do, it is
	// what Choose picks.
	Hier
)

var algoNames = [...]string{
	Auto:            "auto",
	Ring:            "ring",
	BiRing:          "biring",
	Direct:          "direct",
	Doubling:        "rd",
	HalvingDoubling: "hd",
	Tree:            "tree",
	Cable:           "cable",
	Mesh:            "mesh",
	Hier:            "hier",
}

// Valid reports whether a is Auto or one of the algorithms.
func (a Algo) Valid() bool { return a <= Hier }

func (a Algo) String() string {
	if !a.Valid() {
		return fmt.Sprintf("algo(%d)", uint8(a))
	}
	return algoNames[a]
}

// ParseAlgo is the inverse of String.
func ParseAlgo(name string) (Algo, error) {
	if i := slices.Index(algoNames[:], name); i >= 0 {
		return Algo(i), nil
	}
	return Auto, fmt.Errorf("unknown algorithm %q", name)
}

// Algos returns the algorithms that exist for an operation, for any number of
// ranks. The v-forms of Gather and Scatter have only Direct.
func Algos(k Kind) []Algo {
	switch k {
	case AllReduce:
		return []Algo{Ring, BiRing, Direct, Doubling, HalvingDoubling, Tree, Cable, Mesh, Hier}
	case ReduceScatter:
		return []Algo{Ring, BiRing, Direct, HalvingDoubling, Hier}
	case AllGather:
		return []Algo{Ring, BiRing, Direct, Doubling, Hier}
	case Broadcast:
		return []Algo{Ring, BiRing, Direct, Tree, Cable, Hier}
	case Reduce:
		return []Algo{Ring, Direct, Tree, Cable, Hier}
	case Gather, Scatter:
		return []Algo{Direct, Tree}
	case Barrier:
		return []Algo{Direct, Doubling, Tree, Hier}
	case AllToAll, Send, Recv, SendRecv:
		return []Algo{Direct}
	}
	return nil
}
