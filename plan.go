package thunder

import (
	"fmt"

	"thundercollective/internal/collective"
)

// plan returns the cached plan of a request on count elements. Alone, there is
// nothing to plan: the result is a copy, made here, and the plan is nil.
func (c *Comm) plan(r *Request, count int) (*collective.Plan, error) {
	if len(c.ranks) == 1 {
		if r.Send != nil {
			copy(r.Recv, r.Send)
		}
		return nil, nil
	}
	last := &c.planned[r.Kind]
	if last.is(r, count) {
		return last.plan, nil
	}
	s := collective.Spec{
		Kind: r.Kind, Algo: r.Algo, Rank: c.rank, Size: len(c.ranks), Root: r.Root,
		Count: count, Separate: r.Send != nil, Cables: c.cables, Hosts: c.hosts,
		// The census is taken before the first operation that leaves a choice, not before others.
		Crowded: r.Algo == Auto && c.exec.Crowded(), Fixed: r.Algo != Auto,
	}
	if s.Algo == Auto {
		s.Algo = c.job.algoFor(r.Kind)
	}
	switch gives, gets := r.Kind.GivesBlocks(), r.Kind.GetsBlocks(); {
	case gives && gets:
		s.Counts, s.RecvCounts = r.SendCounts, r.RecvCounts
	case gives && !r.Kind.Reduces():
		s.Counts = c.ownCount(r, r.SendCounts, len(r.Recv))
	case gets:
		s.Counts = c.ownCount(r, r.RecvCounts, len(r.Send))
	}
	if r.Kind.GivesBlocks() {
		s.Separate = r.Kind.Gives(c.rank, r.Root) // even if the buffer is empty
	}
	elem := max(1, r.DType.Size())
	s = s.ResolveWith(elem, c.choose)
	s.Segment = c.segment(s.Kind, s.Algo, count*elem) / elem
	plan, err := c.planner.Plan(s, r.DType, r.Op)
	if err != nil {
		return nil, fmt.Errorf("thunder: %w", err)
	}
	*last = planned{plan: plan, dtype: r.DType, op: r.Op, algo: r.Algo, root: r.Root, count: count, separate: r.Send != nil}
	if r.Varying || r.SendCounts != nil || r.RecvCounts != nil {
		last.plan = nil // it depends on more
	}
	return plan, nil
}

// planned is the last plan of a kind of operation, with what it depends on. Programs
// repeat themselves, often several operations in turn: it is looked at before all others.
type planned struct {
	plan     *collective.Plan // nil if there is none
	dtype    DType
	op       Op
	algo     Algo
	separate bool
	root     int
	count    int
}

// is says whether the plan is that of a request on count elements.
func (p *planned) is(r *Request, count int) bool {
	return p.plan != nil && p.count == count && p.dtype == r.DType && p.op == r.Op && p.algo == r.Algo && p.root == r.Root &&
		p.separate == (r.Send != nil) && !r.Varying && r.SendCounts == nil && r.RecvCounts == nil
}

// ownCount completes the counts of a v-form at a rank that knows only its own.
func (c *Comm) ownCount(r *Request, counts []int, bytes int) []int {
	if !r.Varying || counts != nil {
		return counts
	}
	counts = make([]int, len(c.ranks))
	counts[c.rank] = bytes / r.DType.Size()
	return counts
}
