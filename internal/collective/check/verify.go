package check

import (
	"errors"
	"fmt"

	"thundercollective/internal/collective"
)

// A Cost is what a schedule asks of one rank, in elements.
type Cost struct {
	Messages int // sent
	Sent     int
	Reduced  int
	Scratch  int
}

// Group returns the specs of all ranks of a group that are alike but for Rank.
func Group(s collective.Spec) []collective.Spec {
	specs := make([]collective.Spec, s.Size)
	for r := range specs {
		specs[r] = s
		specs[r].Rank = r
	}
	return specs
}

// Verify proves the schedules of a group, one spec a rank (at most 64), cut into
// segments of seg elements if seg is positive. It returns what each rank pays.
func Verify(specs []collective.Spec, seg int) ([]Cost, error) {
	if len(specs) > 64 {
		return nil, fmt.Errorf("%d ranks are too many to verify", len(specs))
	}
	schedules := make([]*collective.Schedule, len(specs))
	for r, s := range specs {
		if s.Rank != r || s.Size != len(specs) {
			return nil, fmt.Errorf("spec %d of %d is for rank %d of %d", r, len(specs), s.Rank, s.Size)
		}
		b, err := collective.Build(s)
		if err != nil {
			return nil, err
		}
		if seg > 0 {
			b = collective.Segmented(b, seg)
		}
		if err := checkForm(b, r, s.Size); err != nil {
			return nil, fmt.Errorf("rank %d: %w", r, err)
		}
		schedules[r] = b
	}
	m := newMachine(schedules)
	var unchanged [][]expr
	for r := range specs {
		m.fill(&specs[r])
		unchanged = append(unchanged, append([]expr(nil), m.ranks[r].memory[collective.Main]...))
	}
	if err := m.run(); err != nil {
		return nil, err
	}
	if err := m.checkResults(specs, unchanged); err != nil {
		return nil, err
	}
	return costs(schedules), nil
}

func costs(schedules []*collective.Schedule) []Cost {
	cs := make([]Cost, len(schedules))
	for r, s := range schedules {
		c := &cs[r]
		c.Scratch = s.Scratch
		for _, lane := range s.Lanes {
			for i := range lane {
				switch a := &lane[i]; a.Step {
				case collective.SendStep:
					c.Messages++
					c.Sent += a.Len()
				case collective.RecvReduceStep, collective.ReduceStep:
					c.Reduced += a.Len()
				}
			}
		}
	}
	return cs
}

// checkResults compares what the ranks hold with what they should.
func (m *machine) checkResults(specs []collective.Spec, unchanged [][]expr) error {
	agreed := make(map[int]expr) // by element: the reduction of the first rank that has it
	for r := range specs {
		me := &m.ranks[r]
		if specs[r].Kind == collective.Barrier && me.heard != m.all {
			return fmt.Errorf("rank %d leaves the barrier having heard of ranks %b only", r, me.heard)
		}
		want := wanted(specs, r)
		for i, got := range me.memory[collective.Main] {
			w := want(i)
			var err error
			switch w.what {
			case anything:
			case same:
				if got != unchanged[r][i] {
					err = errors.New("changed")
				}
			case element:
				if got != m.u.leaf(w.rank, w.pos) {
					err = fmt.Errorf("is not element %d of rank %d", w.pos, w.rank)
				}
			case reduction:
				err = m.checkReduction(agreed, w.pos, got)
			}
			if err != nil {
				return fmt.Errorf("rank %d: result %d: %w", r, i, err)
			}
		}
	}
	return nil
}

func (m *machine) checkReduction(agreed map[int]expr, pos int, got expr) error {
	n := m.u.nodes[got]
	switch first, ok := agreed[pos]; {
	case got == undefined:
		return errors.New("is undefined")
	case n.elem != pos:
		return fmt.Errorf("is the reduction of element %d, not %d", n.elem, pos)
	case n.ranks != m.all:
		return fmt.Errorf("holds contributions of ranks %b only", n.ranks)
	case !n.final && len(m.ranks) > 1:
		return errors.New("was never final")
	case ok && first != got:
		return errors.New("is another expression than on a lower rank")
	case !ok:
		agreed[pos] = got
	}
	return nil
}
