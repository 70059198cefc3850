package check

import (
	"fmt"

	"thundercollective/internal/collective"
)

// checkForm checks what can be said of one schedule by itself.
func checkForm(s *collective.Schedule, rank, size int) error {
	sender, receiver := make([]int, size), make([]int, size)
	for l, lane := range s.Lanes {
		for i := range lane {
			a := &lane[i]
			if err := checkAction(s, a); err != nil {
				return fmt.Errorf("lane %d, action %d %s: %w", l, i, describe(a), err)
			}
			users := receiver
			switch {
			case a.Step == collective.SendStep:
				users = sender
			case !a.Receives():
				continue
			}
			if a.Peer < 0 || a.Peer >= size || a.Peer == rank {
				return fmt.Errorf("lane %d, action %d %s: no such peer", l, i, describe(a))
			}
			if u := users[a.Peer]; u != 0 && u != l+1 {
				return fmt.Errorf("lanes %d and %d share a direction of the link to rank %d", u-1, l, a.Peer)
			}
			users[a.Peer] = l + 1
		}
	}
	return checkLanes(s)
}

func checkAction(s *collective.Schedule, a *collective.Action) error {
	limit := [3]int{s.Main, s.Input, s.Scratch}
	n := a.Len()
	used := [3]bool{}
	switch a.Step {
	case collective.SendStep:
		used = [3]bool{false, true, false}
	case collective.RecvStep:
		used = [3]bool{true, false, false}
	case collective.RecvReduceStep:
		used = [3]bool{true, false, true}
	case collective.CopyStep:
		used = [3]bool{true, true, false}
	case collective.ReduceStep:
		used = [3]bool{true, true, true}
	default:
		return fmt.Errorf("unknown step %v", a.Step)
	}
	for i, sl := range [3]collective.Slice{a.Dst, a.Src, a.Arg} {
		switch {
		case !used[i] && sl != collective.Slice{}:
			return fmt.Errorf("%v plays no part", sl)
		case !used[i]:
			continue
		case sl.Len != n:
			return fmt.Errorf("%v has another length", sl)
		case sl.Off < 0 || sl.Len < 0 || sl.End() > limit[sl.Buf]:
			return fmt.Errorf("%v is outside the %d elements of %v", sl, limit[sl.Buf], sl.Buf)
		case i > 0 && sl.Overlaps(a.Dst) && (sl != a.Dst || a.Step == collective.CopyStep):
			return fmt.Errorf("%v overlaps the destination", sl)
		}
	}
	if a.Step != collective.SendStep && a.Dst.Buf == collective.Input && n > 0 {
		return fmt.Errorf("writes the input")
	}
	if a.Final && !used[2] {
		return fmt.Errorf("nothing is reduced, yet it is final")
	}
	return nil
}

// checkLanes checks that no lane touches what another one writes.
func checkLanes(s *collective.Schedule) error {
	if len(s.Lanes) < 2 {
		return nil
	}
	var reads, writes [3][]uint64 // by element: the lanes that do
	for b, n := range [3]int{s.Main, s.Input, s.Scratch} {
		reads[b], writes[b] = make([]uint64, n), make([]uint64, n)
	}
	mark := func(m *[3][]uint64, lane int, sl collective.Slice) {
		for i := sl.Off; i < sl.End(); i++ {
			m[sl.Buf][i] |= 1 << lane
		}
	}
	for l, lane := range s.Lanes {
		for i := range lane {
			mark(&writes, l, lane[i].Dst)
			mark(&reads, l, lane[i].Src)
			mark(&reads, l, lane[i].Arg)
		}
	}
	for b := range writes {
		for i, w := range writes[b] {
			if users := reads[b][i] | w; w != 0 && users&(users-1) != 0 {
				return fmt.Errorf("lanes %b share %v[%d] and one writes it", users, collective.Buffer(b), i)
			}
		}
	}
	return nil
}
