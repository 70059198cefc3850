package collective

import (
	"errors"
	"fmt"
)

// Cables is how the ranks of a group are joined, for algorithms that follow the
// cables. The ranks must agree on it.
type Cables struct {
	// Ring is an order of all ranks in which each is joined with the next, and
	// the last with the first: the way that Ring and BiRing take. Nil: there is
	// none, and they go in the order of the numbers.
	Ring []int
	// Parent holds the parent of each rank in a tree of cables, -1 for its root:
	// the way that Cable takes.
	Parent []int
	// Large is the algorithm of large all-reduces: BiRing, Cable or Mesh.
	Large Algo
}

// followBytes is from which length on it pays to follow the cables; what is shorter
// is relayed.
const followBytes = 32 << 10

// choose returns the choice where not all ranks are joined, or not equally: to follow
// the cables with what is large, and otherwise what is chosen among equals.
func (c *Cables) choose(equals func(Kind, int, int) Algo) func(Kind, int, int) Algo {
	around := c.Ring != nil
	return func(k Kind, size, bytes int) Algo {
		switch {
		case bytes <= followBytes || size < 3:
		case k == AllReduce:
			return c.Large
		case k == ReduceScatter && around, k == AllGather && around:
			return BiRing
		case k == Broadcast && around && c.Large == BiRing:
			return BiRing
		case (k == Broadcast || k == Reduce) && c.Large != Mesh:
			return Cable
		}
		return equals(k, size, bytes)
	}
}

func (c *Cables) validate(size int) error {
	if c == nil {
		return nil
	}
	if c.Ring != nil {
		seen := make([]bool, size)
		for _, r := range c.Ring {
			if r < 0 || r >= size || seen[r] {
				return fmt.Errorf("ring %v is no order of %d ranks", c.Ring, size)
			}
			seen[r] = true
		}
		if len(c.Ring) != size {
			return fmt.Errorf("ring %v is no order of %d ranks", c.Ring, size)
		}
	}
	if len(c.Parent) != size {
		return fmt.Errorf("a tree of %d ranks in a group of %d", len(c.Parent), size)
	}
	for r := range c.Parent {
		at, steps := r, 0
		for ; at >= 0 && at < size && steps <= size; steps++ {
			at = c.Parent[at]
		}
		if at != -1 {
			return errors.New("the tree of cables is none")
		}
	}
	return nil
}

// turn makes the builder count ranks by their places in the ring of cables. The
// blocks keep their places in memory; done translates the peers back.
func (b *builder) turn() {
	if b.Cables == nil || b.Cables.Ring == nil || b.Algo != Ring && b.Algo != BiRing {
		return
	}
	b.order = b.Cables.Ring
	place := make([]int, b.Size)
	for i, r := range b.order {
		place[r] = i
	}
	b.Rank = place[b.Rank]
	if b.Kind.Rooted() {
		b.Root = place[b.Root]
	}
}

func (b *builder) done() {
	if b.order == nil {
		return
	}
	for _, l := range b.lanes {
		for i := range l.actions {
			if a := &l.actions[i]; a.Receives() || a.Step == SendStep {
				a.Peer = b.order[a.Peer]
			}
		}
	}
}

// blocks returns the block of each rank, by the place of the rank in the order that
// the builder counts in.
func (b *builder) blocks() []span {
	blocks := b.Spec.blocks()
	if b.order == nil {
		return blocks
	}
	turned := make([]span, len(blocks))
	for i, r := range b.order {
		turned[i] = blocks[r]
	}
	return turned
}
