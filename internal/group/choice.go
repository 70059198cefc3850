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

	// Path is how ranks carry it out with ordinary buffers, PathAlloc with buffers that
	// all of them have from Comm.Alloc. Only PathMessages and PathExchange follow Algo.
	Path, PathAlloc collective.Path

	Crowded bool // there are more ranks than cores, all on one machine
}

// Choice returns how the group performs an operation on count elements (of a block,
// where there are blocks) with the algorithm a, which may be Auto. It is settled with the
// first operation of the group.
func (g *Group) Choice(k collective.Kind, a collective.Algo, dt reduce.DType, count int) Choice {
	g.turn.enterAndWait() // the model belongs to the operations
	defer g.turn.leave()
	s := collective.Spec{
		Kind: k, Algo: a, Rank: g.cfg.Rank, Size: len(g.cfg.Ranks), Count: count, RecvCount: count, Cables: g.cfg.Cables, Hosts: g.cfg.Hosts,
		Crowded: a == collective.Auto && g.exec.Crowded(), Fixed: a != collective.Auto,
		Separate: k.Blocks(),
	}
	if a == collective.Auto {
		s.Algo = g.cfg.Tuning.AlgoFor(k)
	}
	s = s.ResolveWith(dt.Size(), g.chooser.Algo)
	segment := g.chooser.SegmentFor(k, s.Algo, count*dt.Size())
	choice := Choice{Algo: s.Algo, Segment: cmp.Or(segment, collective.DefaultSegment), Crowded: g.exec.Crowded()}
	s.Segment = segment / max(1, dt.Size())
	choice.Path, choice.PathAlloc = g.exec.Decide(s, dt, false), g.exec.Decide(s, dt, true)
	return choice
}
