package collective

import (
	"fmt"
	"math"
	"slices"

	"thundercollective/internal/reduce"
)

const (
	// windowBytes bounds the scratch of a plan.
	windowBytes = 2 << 20
	// DefaultSegment is the length in bytes of the segments in which messages travel,
	// unless Spec.Segment is set: long enough to cost little each, short enough to
	// overlap.
	DefaultSegment = 256 << 10
	// wholeSegment is that of messages which no rank passes on, reduces or waits for:
	// there is nothing to overlap with.
	wholeSegment = 1 << 40
)

// segment is the default length of segments, in bytes.
func (s *Spec) segment() int {
	switch {
	case s.Kind == AllToAll && s.Algo == Direct, s.Kind == AllGather && (s.Algo == Direct || s.Size == 2):
		return wholeSegment
	}
	return DefaultSegment
}

// A Plan is a schedule ready to run: cut into segments, bound to an element type
// and a reduction, with the waits of the hazard rule worked out. It is not changed
// once built, so executors may share it.
type Plan struct {
	spec    Spec
	dtype   reduce.DType
	op      reduce.Op
	elem    int // bytes
	segment int // bytes
	kernel  reduce.Kernel
	divide  bool // Final actions divide by the number of ranks

	layout

	// What the path depends on; see facts.decide.
	posted   int       // bytes that a rank posts on the board, at most; -1 if it cannot
	exchange *exchange // nil if it is none
	mayShare bool      // ranks may take the data from each other's memory

	lanes []planLane
	sends []int // by peer: how many messages it is sent
	peers []int // those that are sent anything
	links []int // those that are sent anything, or send
}

// A planLane is one lane of a plan.
type planLane struct {
	actions []planAction
	waits   []wait
}

// A planAction is an action with what the executor has to know about it.
type planAction struct {
	Action
	number   int // of a send: how many went to the peer before it
	from, to int // its waits, as a range of planLane.waits
}

// A wait is for the first n messages of the run to peer to be gone.
type wait struct{ peer, n int }

// NewPlan plans a collective on elements of type dt. Auto is resolved; a Window of
// zero becomes 2 MiB. The reduction matters only to operations that reduce, the
// type to all but Barrier.
func NewPlan(s Spec, dt reduce.DType, op reduce.Op) (*Plan, error) {
	return newPlan(s, dt, op, s.segmentBytes(dt))
}

// segmentBytes is the length of segments, in bytes.
func (s *Spec) segmentBytes(dt reduce.DType) int {
	if s.Segment > 0 {
		return s.Segment * dt.Size()
	}
	return s.segment()
}

func newPlan(s Spec, dt reduce.DType, op reduce.Op, segment int) (*Plan, error) {
	p := &Plan{dtype: dt, op: op, segment: segment}
	if s.Kind.Reduces() && dt.Valid() {
		k, err := reduce.Lookup(dt, op)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", s.Kind, err)
		}
		p.kernel, p.divide = k, op == reduce.Avg
	}
	if err := p.outline(s); err != nil {
		return nil, err
	}
	return p, nil
}

// outline makes p the plan of a collective, except for its reduction.
func (p *Plan) outline(s Spec) error {
	p.elem = p.dtype.Size()
	if s.Kind == Barrier {
		p.elem = 1
	}
	if p.elem == 0 {
		return fmt.Errorf("%v: no element type", s.Kind)
	}
	s = s.Resolve(p.elem)
	if s.Window == 0 {
		s.Window = windowBytes / p.elem
	}
	if s.ElemSize == 0 {
		s.ElemSize = p.elem
	}
	s.Counts, s.RecvCounts = slices.Clone(s.Counts), slices.Clone(s.RecvCounts)
	p.spec = s
	schedule, err := Build(s)
	if err != nil {
		return err
	}
	if max(schedule.Main, schedule.Input) > math.MaxInt/p.elem {
		return fmt.Errorf("%v: %d elements are too many", s.Kind, max(schedule.Main, schedule.Input))
	}
	schedule = Segmented(schedule, max(1, p.segment/p.elem))
	p.layout = p.spec.lay(schedule, p.elem)
	p.posted = p.postable()
	p.sends = make([]int, s.Size)
	for _, lane := range schedule.Lanes {
		p.lanes = append(p.lanes, p.planLane(lane))
	}
	receives := make([]bool, s.Size)
	for _, lane := range schedule.Lanes {
		for i := range lane {
			if lane[i].Receives() {
				receives[lane[i].Peer] = true
			}
		}
	}
	for peer, sends := range p.sends {
		if sends > 0 {
			p.peers = append(p.peers, peer)
		}
		if sends > 0 || receives[peer] {
			p.links = append(p.links, peer)
		}
	}
	p.exchange = p.exchangeOf()
	// The v-forms go by messages, whose lengths show which ranks disagree.
	p.mayShare = !s.Fixed && s.Counts == nil
	return nil
}

// Segment is the length of the segments in which its messages travel, in bytes; those of
// very long messages are longer.
func (p *Plan) Segment() int { return p.segment }

// Algo is the algorithm of the plan, never Auto.
func (p *Plan) Algo() Algo { return p.spec.Algo }

// Buffers returns the least lengths of main and input for Run, in bytes.
func (p *Plan) Buffers() (main, input int) { return p.main, p.input }

// Scratch returns how many bytes the executor stages data in.
func (p *Plan) Scratch() int { return p.scratch }

// size is how many actions the plan has.
func (p *Plan) size() int {
	n := 0
	for _, l := range p.lanes {
		n += len(l.actions)
	}
	return n
}

// planLane numbers the sends of a lane and finds out which of them have to be gone
// before an action may write.
func (p *Plan) planLane(lane []Action) planLane {
	out := planLane{actions: make([]planAction, len(lane))}
	pending := newRangeMap[[]wait](nil) // sends that read a range, since it was written
	waited := make([]int, p.spec.Size)  // by peer: what earlier actions waited for
	for i, a := range lane {
		pa := planAction{Action: a, from: len(out.waits)}
		if a.Step == SendStep {
			pa.number = p.sends[a.Peer]
			p.sends[a.Peer]++
			if a.Src.Buf != Input { // which is never written
				over := pending.over(a.Src)
				for j, ws := range over {
					over[j] = append(ws[:len(ws):len(ws)], wait{a.Peer, pa.number + 1})
				}
			}
		} else {
			over := pending.over(a.Dst)
			for j, ws := range over {
				for _, w := range ws {
					if w.n > waited[w.peer] {
						waited[w.peer] = w.n
						out.waits = append(out.waits, w)
					}
				}
				over[j] = nil
			}
		}
		pa.to = len(out.waits)
		out.actions[i] = pa
	}
	return out
}
