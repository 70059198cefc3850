package group

import (
	"cmp"

	"thundercollective/internal/collective"
	"thundercollective/internal/reduce"
)

// A Choice is how an operation is performed.
type Choice struct {
	Algo    collective.Algo
	Segment int // the length in bytes of the segments in which its messages travel

	// What ranks of one machine do instead, the first of these that is set: they show each
	// other on a board what is short (Board); they take what they need from each other's
	// memory, if all of it is of Comm.Alloc (PooledAlloc), or whatever memory it is
	// (Pooled); they lend each other what is not of Comm.Alloc, to be worked on (Travels).
	Board, Pooled, PooledAlloc, Travels bool

	Crowded bool // there are more ranks than cores, all on one machine
}

// Choice returns how the group performs an operation on count elements (of a block,
// where there are blocks) with the algorithm a, which may be Auto. It is settled with the
// first operation of the group.
func (g *Group) Choice(k collective.Kind, a collective.Algo, dt reduce.DType, count int) Choice {
	g.turn.enterAndWait() // the model belongs to the operations
	defer g.turn.leave()
	s := collective.Spec{Kind: k, Algo: a, Size: len(g.cfg.Ranks), Count: count, Cables: g.cfg.Cables}
	if a == collective.Auto {
		s.Algo = g.cfg.Tuning.AlgoFor(k)
	}
	s = s.ResolveWith(dt.Size(), g.chooser.Algo)
	bytes := count * dt.Size()
	choice := Choice{Algo: s.Algo, Segment: cmp.Or(g.chooser.SegmentFor(k, s.Algo, bytes), collective.DefaultSegment), Crowded: g.census.crowded}
	if g.census.commons && a == collective.Auto {
		choice.Board = g.hasRoom(k, s.Shown(dt.Size()))
		choice.PooledAlloc, choice.Pooled = collective.Pools(k, len(g.cfg.Ranks), bytes, g.census.reads)
		choice.Travels = collective.Travels(k, len(g.cfg.Ranks), bytes)
	}
	return choice
}
