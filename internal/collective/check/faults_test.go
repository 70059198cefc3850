package check

import (
	"strings"
	"testing"

	"thundercollective/internal/collective"
)

// schedule makes the schedules of a group from lanes of one lane each, with four
// elements of every buffer.
func schedules(lanes ...[]collective.Action) []*collective.Schedule {
	var all []*collective.Schedule
	for _, l := range lanes {
		all = append(all, &collective.Schedule{
			Lanes: [][]collective.Action{l}, Main: 4, Input: 4, Scratch: 4,
		})
	}
	return all
}

func sl(b collective.Buffer, off, n int) collective.Slice {
	return collective.Slice{Buf: b, Off: off, Len: n}
}

func send(peer int, src collective.Slice) collective.Action {
	return collective.Action{Step: collective.SendStep, Peer: peer, Src: src}
}

func recv(peer int, dst collective.Slice) collective.Action {
	return collective.Action{Step: collective.RecvStep, Peer: peer, Dst: dst}
}

func recvReduce(peer int, dst, arg collective.Slice) collective.Action {
	return collective.Action{Step: collective.RecvReduceStep, Peer: peer, Dst: dst, Arg: arg}
}

// TestFaultsAreFound gives the machine schedules that are wrong.
func TestFaultsAreFound(t *testing.T) {
	whole := sl(collective.Main, 0, 4)
	final := func(a collective.Action) collective.Action { a.Final = true; return a }
	type lane = []collective.Action
	for _, tt := range []struct {
		name  string
		ranks []*collective.Schedule
		want  string
	}{
		{"both overwrite what they send", schedules(
			lane{send(1, whole), final(recvReduce(1, whole, whole))},
			lane{send(0, whole), final(recvReduce(0, whole, whole))},
		), "deadlock"},
		{"both receive first", schedules(
			lane{recv(1, sl(collective.Scratch, 0, 4)), send(1, whole)},
			lane{recv(0, sl(collective.Scratch, 0, 4)), send(0, whole)},
		), "deadlock"},
		{"nobody receives", schedules(
			lane{send(1, whole)}, lane{},
		), "never receives"},
		{"other length", schedules(
			lane{send(1, sl(collective.Main, 0, 3))}, lane{recv(0, whole)},
		), "3 elements long"},
		{"adds twice", schedules(
			lane{send(1, whole), send(1, whole)},
			lane{recvReduce(0, whole, whole), recvReduce(0, whole, whole)},
		), "twice"},
		{"adds another element", schedules(
			lane{send(1, sl(collective.Main, 1, 3))},
			lane{recvReduce(0, sl(collective.Main, 0, 3), sl(collective.Main, 0, 3))},
		), "element 0 with element 1"},
		{"sends what is undefined", schedules(
			lane{send(1, sl(collective.Scratch, 0, 4))}, lane{recv(0, whole)},
		), "undefined"},
		{"final too early", schedules(
			lane{send(1, whole)}, lane{final(recvReduce(0, whole, whole))}, lane{},
		), "final"},
	} {
		m := newMachine(tt.ranks)
		for r := range tt.ranks {
			m.fill(&collective.Spec{Kind: collective.AllReduce, Rank: r})
		}
		if err := m.run(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

// TestBadFormIsFound gives schedules that cannot be right by themselves.
func TestBadFormIsFound(t *testing.T) {
	part := sl(collective.Main, 0, 2)
	for _, tt := range []struct {
		name  string
		lanes [][]collective.Action
		want  string
	}{
		{"writes the input", [][]collective.Action{{recv(1, sl(collective.Input, 0, 1))}}, "writes the input"},
		{"out of bounds", [][]collective.Action{{send(1, sl(collective.Main, 3, 2))}}, "outside"},
		{"itself", [][]collective.Action{{send(0, part)}}, "no such peer"},
		{"shifted argument", [][]collective.Action{{recvReduce(1, part, sl(collective.Main, 1, 2))}}, "overlaps"},
		{"other lengths", [][]collective.Action{{recvReduce(1, part, sl(collective.Main, 2, 1))}}, "another length"},
		{"shared link", [][]collective.Action{{send(1, part)}, {send(1, part)}}, "share a direction"},
		{"shared range", [][]collective.Action{{send(1, part)}, {recv(1, sl(collective.Main, 1, 1))}}, "one writes it"},
	} {
		s := &collective.Schedule{Lanes: tt.lanes, Main: 4, Input: 4, Scratch: 4}
		if err := checkForm(s, 0, 2); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

// TestWrongResultsAreFound compares memories with results that are not theirs.
func TestWrongResultsAreFound(t *testing.T) {
	specs := Group(collective.Spec{Kind: collective.AllReduce, Size: 2, Count: 1})
	build := func() *machine {
		m := newMachine([]*collective.Schedule{{Main: 1}, {Main: 1}})
		return m
	}
	set := func(m *machine, a, b func(u *universe) expr) error {
		m.ranks[0].memory[0][0] = a(m.u)
		m.ranks[1].memory[0][0] = b(m.u)
		return m.checkResults(specs, [][]expr{{0}, {0}})
	}
	pair := func(left, right int, final bool) func(u *universe) expr {
		return func(u *universe) expr {
			e, _ := u.combine(u.leaf(left, 0), u.leaf(right, 0))
			if final {
				e, _ = u.finish(e, 3)
			}
			return e
		}
	}
	own := func(u *universe) expr { return u.leaf(0, 0) }
	for _, tt := range []struct {
		name string
		a, b func(u *universe) expr
		want string
	}{
		{"right", pair(0, 1, true), pair(0, 1, true), ""},
		{"other order", pair(0, 1, true), pair(1, 0, true), "another expression"},
		{"not divided", pair(0, 1, false), pair(0, 1, false), "never final"},
		{"incomplete", own, own, "only"},
		{"undefined", pair(0, 1, true), func(*universe) expr { return undefined }, "undefined"},
	} {
		err := set(build(), tt.a, tt.b)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}
