package group

import (
	"fmt"

	"thundercollective/internal/collective"
	"thundercollective/internal/reduce"
)

// plans are the prepared operations of a group. The last of each kind is at hand: programs
// repeat themselves, often several operations in turn.
type plans struct {
	planner *collective.Planner
	last    [collective.SendRecv + 1]planned
}

// plan returns the cached plan of a request on count elements. Alone, there is
// nothing to plan: the result is a copy, made here, and the plan is nil.
func (g *Group) plan(r *Request, count int) (*collective.Plan, error) {
	if len(g.cfg.Ranks) == 1 {
		if r.Send != nil {
			copy(r.Recv, r.Send)
		}
		return nil, nil
	}
	last := &g.plans.last[r.Kind]
	if last.is(r, count) {
		return last.plan, nil
	}
	s := collective.Spec{
		Kind: r.Kind, Algo: r.Algo, Rank: g.cfg.Rank, Size: len(g.cfg.Ranks), Root: r.Root,
		Count: count, Separate: r.Send != nil, Cables: g.cfg.Cables, Hosts: g.cfg.Hosts,
		// The census is taken before the first operation that leaves a choice, not before others.
		Crowded: r.Algo == collective.Auto && g.exec.Crowded(), Fixed: r.Algo != collective.Auto,
	}
	if s.Algo == collective.Auto {
		s.Algo = g.cfg.Tuning.AlgoFor(r.Kind)
	}
	switch gives, gets := r.Kind.GivesBlocks(), r.Kind.GetsBlocks(); {
	case gives && gets:
		s.Counts, s.RecvCounts = r.SendCounts, r.RecvCounts
	case gives && !r.Kind.Reduces():
		s.Counts = ownCount(r, r.SendCounts, len(r.Recv), g.cfg.Rank, len(g.cfg.Ranks))
	case gets:
		s.Counts = ownCount(r, r.RecvCounts, len(r.Send), g.cfg.Rank, len(g.cfg.Ranks))
	}
	if r.Kind.GivesBlocks() {
		s.Separate = r.Kind.Gives(g.cfg.Rank, r.Root) // even if the buffer is empty
	}
	elem := max(1, r.DType.Size())
	s = s.ResolveWith(elem, g.chooser.Algo)
	s.Segment = g.chooser.SegmentFor(s.Kind, s.Algo, count*elem) / elem
	plan, err := g.plans.planner.Plan(s, r.DType, r.Op)
	if err != nil {
		return nil, fmt.Errorf("thunder: %w", err)
	}
	*last = planned{plan: plan, dtype: r.DType, op: r.Op, algo: r.Algo, root: r.Root, count: count, separate: r.Send != nil}
	if r.Varying || r.SendCounts != nil || r.RecvCounts != nil {
		last.plan = nil // it depends on more
	}
	return plan, nil
}

// planned is the last plan of a kind of operation, with what it depends on.
type planned struct {
	plan     *collective.Plan // nil if there is none
	dtype    reduce.DType
	op       reduce.Op
	algo     collective.Algo
	separate bool
	root     int
	count    int
}

// is reports whether the plan is that of a request on count elements.
func (p *planned) is(r *Request, count int) bool {
	return p.plan != nil && p.count == count && p.dtype == r.DType && p.op == r.Op && p.algo == r.Algo && p.root == r.Root &&
		p.separate == (r.Send != nil) && !r.Varying && r.SendCounts == nil && r.RecvCounts == nil
}

// ownCount completes the counts of a v-form at a rank that knows only its own.
func ownCount(r *Request, counts []int, bytes, rank, n int) []int {
	if !r.Varying || counts != nil {
		return counts
	}
	counts = make([]int, n)
	counts[rank] = bytes / r.DType.Size()
	return counts
}
