package collective

import (
	"slices"
	"sync"

	"thundercollective/internal/reduce"
)

const (
	plannerPlans   = 64      // plans that a Planner keeps
	plannerActions = 1 << 16 // actions in all of them, some 8 MiB
)

// A Planner keeps the plans used last, so that a collective which is called again
// and again is planned once. It is safe for concurrent use. A hit does not
// allocate.
type Planner struct {
	mu      sync.Mutex
	plans   map[planKey]*plannerEntry
	actions int    // in all plans
	clock   uint64 // ticks with each use
}

type plannerEntry struct {
	plan *Plan
	size int
	used uint64 // clock at the last use
}

// A planKey is what a plan depends on. The counts go in as a hash; a hit compares
// them in full.
type planKey struct {
	kind               Kind
	algo               Algo
	dtype              reduce.DType
	op                 reduce.Op
	separate, crowded  bool
	fixed              bool
	rank, size         int
	root, from         int
	count, recvCount   int
	window, segment    int
	elemSize           int
	counts, recvCounts uint64
	cables             *Cables
	hosts              *Hosts
}

// NewPlanner returns a Planner without plans.
func NewPlanner() *Planner {
	return &Planner{plans: make(map[planKey]*plannerEntry)}
}

// Plan returns the plan that NewPlan would.
func (p *Planner) Plan(s Spec, dt reduce.DType, op reduce.Op) (*Plan, error) {
	s = s.Resolve(dt.Size())
	if !s.Kind.Reduces() {
		op = 0
	}
	key := planKey{
		kind: s.Kind, algo: s.Algo, dtype: dt, op: op, separate: s.Separate, crowded: s.Crowded, fixed: s.Fixed,
		rank: s.Rank, size: s.Size, root: s.Root, from: s.From,
		count: s.Count, recvCount: s.RecvCount, window: s.Window, segment: s.Segment, elemSize: s.ElemSize,
		counts: hash(s.Counts), recvCounts: hash(s.RecvCounts), cables: s.Cables, hosts: s.Hosts,
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock++
	if e := p.plans[key]; e != nil &&
		slices.Equal(e.plan.spec.Counts, s.Counts) && slices.Equal(e.plan.spec.RecvCounts, s.RecvCounts) {
		e.used = p.clock
		return e.plan, nil
	}
	plan, err := NewPlan(s, dt, op)
	if err != nil {
		return nil, err
	}
	p.drop(key) // another plan with the same hash
	size := plan.size()
	for len(p.plans) > 0 && (len(p.plans) >= plannerPlans || p.actions+size > plannerActions) {
		p.drop(p.oldest())
	}
	p.plans[key] = &plannerEntry{plan: plan, size: size, used: p.clock}
	p.actions += size
	return plan, nil
}

func (p *Planner) drop(key planKey) {
	if e := p.plans[key]; e != nil {
		p.actions -= e.size
		delete(p.plans, key)
	}
}

func (p *Planner) oldest() planKey {
	var oldest planKey
	used := p.clock + 1
	for k, e := range p.plans {
		if e.used < used {
			oldest, used = k, e.used
		}
	}
	return oldest
}

// hash is FNV-1a over whole counts; nil and empty lists differ.
func hash(counts []int) uint64 {
	if counts == nil {
		return 0
	}
	h := uint64(14695981039346656037)
	for _, c := range counts {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}
