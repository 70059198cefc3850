package membership

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"testing"
)

// A state is that of a whole group: its machines, packed, and all messages ever
// sent, in order of their packed form. A message may be delivered at any time, any
// number of times, or never, which covers loss, delay, repetition, ranks that die,
// and ranks that take part late.
type state struct {
	nodes [3][2]uint64
	sent  []uint64
}

// pack puts a machine of a group of up to three into two words.
func pack(m *Machine) [2]uint64 {
	b := [16]byte{
		byte(m.gone[0]), byte(m.promised), byte(m.last), byte(m.set[0]), byte(m.phase), byte(m.ballot),
		byte(m.answers[0]), byte(m.best), byte(m.value[0]), byte(m.decision[0]),
	}
	return [2]uint64{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
}

func unpack(self, size int, w [2]uint64) *Machine {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], w[0])
	binary.LittleEndian.PutUint64(b[8:], w[1])
	return &Machine{
		self: self, size: size, gone: Set{uint64(b[0])}, promised: uint32(b[1]), last: uint32(b[2]), set: Set{uint64(b[3])},
		phase: phase(b[4]), ballot: uint32(b[5]), answers: Set{uint64(b[6])}, best: uint32(b[7]), value: Set{uint64(b[8])},
		decision: Set{uint64(b[9])}, decided: b[9] != 0,
	}
}

func packMessage(m Message) uint64 {
	return binary.LittleEndian.Uint64([]byte{byte(m.Kind), byte(m.From), byte(m.To), byte(m.Ballot), byte(m.Last), byte(m.Set[0]), 0, 0})
}

func unpackMessage(w uint64) Message {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], w)
	return Message{Kind: Kind(b[0]), From: int(b[1]), To: int(b[2]), Ballot: uint32(b[3]), Last: uint32(b[4]), Set: Set{uint64(b[5])}}
}

// after returns the state in which a rank's machine has become m, and whether that
// is another one.
func (s *state) after(rank int, m *Machine) (state, bool) {
	next := state{nodes: s.nodes, sent: s.sent}
	next.nodes[rank] = pack(m)
	changed := next.nodes != s.nodes
	for _, msg := range m.Take() {
		w := packMessage(msg)
		if i, there := slices.BinarySearch(next.sent, w); !there {
			next.sent = slices.Insert(slices.Clip(next.sent), i, w)
			changed = true
		}
	}
	return next, changed
}

func (s *state) key() string {
	var b []byte
	for _, n := range s.nodes {
		b = binary.LittleEndian.AppendUint64(b, n[0])
		b = binary.LittleEndian.AppendUint64(b, n[1])
	}
	for _, m := range s.sent {
		b = binary.LittleEndian.AppendUint64(b, m)
	}
	return string(b)
}

// TestEveryState walks through every state that a small group can reach when at
// most so many suspicions, right or wrong, arise and ballots are bounded.
func TestEveryState(t *testing.T) {
	const quick, usual, soak = 0, 1, 2 // a moment, seconds, a minute
	effort := usual
	switch {
	case os.Getenv("THUNDER_SOAK") != "":
		effort = soak
	case testing.Short():
		effort = quick
	}
	for _, tt := range []struct{ size, suspicions, rounds, effort int }{
		{2, 2, 6, quick},
		{3, 1, 1, quick},
		{3, 2, 1, quick},
		{3, 4, 1, usual},
		{3, 1, 2, usual},
		{3, 2, 2, soak},
	} {
		if tt.effort > effort {
			continue
		}
		t.Run(fmt.Sprintf("%d ranks, %d suspicions, %d rounds", tt.size, tt.suspicions, tt.rounds), func(t *testing.T) {
			w := walk{t: t, size: tt.size, suspicions: tt.suspicions, rounds: tt.rounds, seen: map[string]bool{}}
			w.run()
			if w.decided == 0 {
				t.Error("nobody ever decides")
			}
			t.Logf("%d states, in %d of them somebody has decided", len(w.seen), w.decided)
		})
	}
}

// A walk visits states, each once.
type walk struct {
	t                        *testing.T
	size, suspicions, rounds int
	seen                     map[string]bool
	next                     []state
	decided                  int
}

func (w *walk) run() {
	var s state
	for r := range w.size {
		s, _ = s.after(r, New(r, w.size, Set{}))
	}
	w.visit(s)
	for len(w.next) > 0 {
		s := w.next[len(w.next)-1]
		w.next = w.next[:len(w.next)-1]
		w.leave(&s)
	}
}

// leave visits all states that follow a state.
func (w *walk) leave(s *state) {
	suspected := 0
	for r := range w.size {
		suspected += unpack(r, w.size, s.nodes[r]).gone.Len()
	}
	try := func(r int, f func(*Machine)) {
		m := unpack(r, w.size, s.nodes[r])
		f(m)
		if next, changed := s.after(r, m); changed && int(m.ballot) < (w.rounds+1)*w.size {
			w.visit(next)
		}
	}
	for r := range w.size {
		try(r, (*Machine).Tick)
		for other := range w.size {
			if suspected < w.suspicions && other != r {
				try(r, func(m *Machine) { m.Gone(other) })
			}
		}
	}
	for _, packed := range s.sent {
		msg := unpackMessage(packed)
		try(msg.To, func(m *Machine) { m.Step(msg) })
	}
}

// visit holds the promises against a state that is new.
func (w *walk) visit(s state) {
	k := s.key()
	if w.seen[k] {
		return
	}
	w.seen[k] = true
	w.next = append(w.next, s)
	nodes := make([]*Machine, w.size)
	anybody := false
	for r := range nodes {
		nodes[r] = unpack(r, w.size, s.nodes[r])
		anybody = anybody || nodes[r].decided
	}
	if anybody {
		w.decided++
	}
	check(w.t, 0, nodes)
}
