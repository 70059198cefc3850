package collective

// maxSegments is the most pieces that Segmented cuts a message into; longer messages
// get longer pieces, which keeps schedules small.
const maxSegments = 256

// Segmented returns the schedule with messages cut into pieces of at most seg
// elements (more for very long ones, see maxSegments), and each send moved to
// directly behind the last action of its lane that writes what it sends. So a
// piece travels on while the next one still arrives.
//
// How a message is cut depends on its length and seg alone, hence it is the same at
// both ends. The order of the sends to one peer stays. A piece is posted earlier than
// its whole was, never later, and waits for nothing new: what did not deadlock
// does not start to.
func Segmented(s *Schedule, seg int) *Schedule {
	out := &Schedule{Main: s.Main, Input: s.Input, Scratch: s.Scratch}
	for _, l := range s.Lanes {
		out.Lanes = append(out.Lanes, hoist(cutActions(l, seg)))
	}
	return out
}

func cutActions(in []Action, seg int) []Action {
	pieces := func(a *Action) int {
		if seg <= 0 {
			return 1
		}
		return min(span{0, a.Len()}.windows(seg), maxSegments)
	}
	total := 0
	for i := range in {
		total += pieces(&in[i])
	}
	out := make([]Action, 0, total)
	for i := range in {
		a := in[i]
		n := pieces(&a)
		for k := range n {
			p := span{0, a.Len()}.part(k, n)
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
	written := newRangeMap(-1)        // by which action last
	last := make(map[int]int)         // by peer: behind which action the send before went
	after := make([]int, len(lane))   // behind which action of the old order each goes
	place := make([]int, len(lane)+2) // by after+1: where the next one goes
	for i := range lane {
		a := &lane[i]
		after[i] = i
		if a.Step == SendStep {
			if !a.Pinned {
				after[i] = -1
				for _, w := range written.over(a.Src) {
					after[i] = max(after[i], w)
				}
			}
			if before, ok := last[a.Peer]; ok {
				after[i] = max(after[i], before)
			}
			last[a.Peer] = after[i]
		} else {
			by := written.over(a.Dst)
			for j := range by {
				by[j] = i
			}
		}
		place[after[i]+2]++
	}
	for k := 1; k < len(place); k++ {
		place[k] += place[k-1]
	}
	// Those that go to the same place keep their order, so an action comes before
	// the sends behind it.
	out := make([]Action, len(lane))
	for i := range lane {
		k := after[i] + 1
		out[place[k]] = lane[i]
		place[k]++
	}
	return out
}
