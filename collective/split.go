package collective

import (
	"cmp"
	"slices"
)

// maxSegments is how many pieces Split cuts a message into at the most; longer
// messages get longer pieces, so that schedules stay small.
const maxSegments = 256

// Split returns the schedule with messages cut into pieces of at most seg
// elements (more for very long ones, see maxSegments), and each send moved to
// directly behind the last action of its lane that writes what it sends. So a
// piece travels on while the next one still arrives.
//
// How a message is cut depends on its length and seg alone, hence both ends cut
// alike. The order of the sends to one peer stays. A piece is posted earlier than
// its whole was, never later, and waits for nothing new: what did not deadlock
// does not start to.
func Split(s *Schedule, seg int) *Schedule {
	out := &Schedule{Main: s.Main, Input: s.Input, Scratch: s.Scratch}
	for _, l := range s.Lanes {
		out.Lanes = append(out.Lanes, hoist(cutActions(l, seg)))
	}
	return out
}

func cutActions(in []Action, seg int) []Action {
	out := make([]Action, 0, len(in))
	for _, a := range in {
		n := a.Len()
		whole := span{0, n}
		pieces := 1
		if seg > 0 {
			pieces = min(whole.windows(seg), maxSegments)
		}
		for k := range pieces {
			p := whole.part(k, pieces)
			piece := a
			piece.Dst = a.Dst.cut(p.off, p.off+p.n)
			piece.Src = a.Src.cut(p.off, p.off+p.n)
			piece.Arg = a.Arg.cut(p.off, p.off+p.n)
			out = append(out, piece)
		}
	}
	return out
}

// hoist moves sends forward.
func hoist(lane []Action) []Action {
	type item struct {
		after int // the action of the old order behind which it goes
		old   int
	}
	written := newRangeMap(-1) // by which action last
	order := make([]item, len(lane))
	last := make(map[int]int) // by peer: where the send before went
	for i, a := range lane {
		after := i
		if a.Step == SendStep {
			if !a.Pinned {
				after = -1
				for _, w := range written.over(a.Src) {
					after = max(after, w)
				}
			}
			if before, ok := last[a.Peer]; ok {
				after = max(after, before)
			}
			last[a.Peer] = after
		} else {
			by := written.over(a.Dst)
			for j := range by {
				by[j] = i
			}
		}
		order[i] = item{after, i}
	}
	// At the same place, the action itself comes before the sends behind it, as
	// its old index is lower.
	slices.SortFunc(order, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.after, b.after), cmp.Compare(a.old, b.old))
	})
	out := make([]Action, len(lane))
	for i, o := range order {
		out[i] = lane[o.old]
	}
	return out
}
