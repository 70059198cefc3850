package liveness

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const second = time.Second

var four = Config{Size: 4, Timeout: 2 * second, Grace: 10 * second}

// run ticks a Monitor of rank 0 through a span of time, and tells what it said
// when. beat says whether a rank is heard of at a time.
func run(m *Monitor, from, to time.Duration, beat func(r int, at time.Duration) bool) (verdicts []Verdict, at []time.Duration, asked []int) {
	for now := from; now <= to; now += m.cfg.Tick() {
		for r := 1; r < m.cfg.Size; r++ {
			if beat(r, now) {
				m.Heard(r, now)
			}
		}
		out := m.Tick(now)
		asked = append(asked, out.Ask...)
		if out.Verdict != nil {
			verdicts, at = append(verdicts, *out.Verdict), append(at, now)
		}
	}
	return verdicts, at, asked
}

// TestSilence convicts a rank that vanished within the timeout, and nobody else.
func TestSilence(t *testing.T) {
	m := New(four, 0)
	const cut = 5*second + 30*time.Millisecond
	verdicts, at, asked := run(m, 0, 20*second, func(r int, now time.Duration) bool { return r != 2 || now < cut })
	if len(verdicts) != 1 || verdicts[0].Rank != 2 || !strings.Contains(verdicts[0].Cause, "no heartbeat for 1.5") {
		t.Fatalf("got %v, want rank 2 convicted", verdicts)
	}
	if d := at[0] - cut; d < second || d > 2*second {
		t.Errorf("convicted after %v, want 1 s to 2 s", d)
	}
	if !slices.Equal(asked, []int{2}) {
		t.Errorf("asked about %v, want 2 once", asked)
	}
}

// TestAnswer puts what the machine said into the cause.
func TestAnswer(t *testing.T) {
	m := New(Config{Size: 2, Timeout: 2 * second}, 0)
	m.Heard(1, 0)
	run(m, 0, second+second/4, func(int, time.Duration) bool { return false })
	m.Answered(1, "its machine answers")
	verdicts, _, _ := run(m, second+second/4, 2*second, func(int, time.Duration) bool { return false })
	if len(verdicts) != 1 || !strings.HasSuffix(verdicts[0].Cause, "; its machine answers") {
		t.Errorf("got %v", verdicts)
	}
}

// TestLateAnswer has the machine's answer arrive after the accusation, which does not
// know of it.
func TestLateAnswer(t *testing.T) {
	m := New(Config{Size: 3, Timeout: 2 * second}, 0)
	m.Heard(1, 0)
	heard := func(r int, _ time.Duration) bool { return r == 2 }
	run(m, 0, second+second/4, heard)
	m.Accuse(Accusation{By: 2, Rank: 1, Cause: "no heartbeat for 1.5s"}, second+second/4)
	m.Answered(1, "its machine answers")
	verdicts, _, _ := run(m, second+second/4, 2*second, heard)
	if len(verdicts) != 1 || verdicts[0].Cause != "no heartbeat for 1.5s; its machine answers" {
		t.Errorf("got %v", verdicts)
	}
}

// TestOwnStall has this rank not run for a while: nobody is to blame.
func TestOwnStall(t *testing.T) {
	m := New(four, 0)
	always := func(int, time.Duration) bool { return true }
	run(m, 0, 3*second, always)
	if out := m.Tick(60 * second); len(out.Accuse) > 0 || out.Verdict != nil {
		t.Errorf("after a gap: %+v", out)
	}
	if v, _, _ := run(m, 60*second, 65*second, always); v != nil {
		t.Errorf("later: %v", v)
	}
}

// TestStart gives ranks that were never heard of the grace to start.
func TestStart(t *testing.T) {
	m := New(four, 0)
	v, at, _ := run(m, 0, 15*second, func(r int, _ time.Duration) bool { return r != 3 })
	if len(v) != 1 || v[0].Rank != 3 || at[0] < 10*second {
		t.Errorf("got %v at %v", v, at)
	}
}

// TestCut has a rank that hears from nobody blame itself, unless there is but one
// other, or their connections broke.
func TestCut(t *testing.T) {
	heard := func(_ int, now time.Duration) bool { return now < second }
	v, _, _ := run(New(four, 0), 0, 4*second, heard)
	if len(v) == 0 || v[0].Rank != 0 || !v[0].Cut {
		t.Errorf("four ranks: %v", v)
	}
	// Their last heartbeats came at different times, as they do.
	v, _, _ = run(New(four, 0), 0, 4*second, func(r int, now time.Duration) bool { return now < second+time.Duration(r)*second/4 })
	if len(v) == 0 || v[0].Rank != 0 || !v[0].Cut {
		t.Errorf("four ranks, one after the other: %v", v)
	}
	v, _, _ = run(New(Config{Size: 2, Timeout: 2 * second}, 0), 0, 4*second, heard)
	if len(v) != 1 || v[0].Rank != 1 || v[0].Cut {
		t.Errorf("two ranks: %v", v)
	}
	m := New(four, 0)
	for r := 1; r < 4; r++ {
		m.Accuse(Accusation{Rank: r, Cause: "reset", Broke: true}, 0)
	}
	if out := m.Tick(second / 2); out.Verdict == nil || out.Verdict.Cut {
		t.Errorf("all others died: %+v", out)
	}
}

// TestQuarrel lets two ranks that are alive lose each other. Everybody convicts
// the same, in whatever order they heard of it.
func TestQuarrel(t *testing.T) {
	a := Accusation{By: 1, Rank: 3, Cause: "a", Broke: true}
	b := Accusation{By: 3, Rank: 1, Cause: "b", Broke: true}
	for self := range 4 {
		for _, order := range [][]Accusation{{a, b}, {b, a}} {
			cfg := four
			cfg.Self = self
			m := New(cfg, 0)
			for _, x := range order {
				m.Accuse(x, 0)
			}
			if out := m.Tick(50 * time.Millisecond); out.Verdict != nil {
				t.Fatalf("a verdict after half of the wait: %v", out.Verdict)
			}
			out := m.Tick(100 * time.Millisecond)
			if out.Verdict == nil || out.Verdict.Rank != 3 {
				t.Fatalf("rank %d: %+v, want rank 3 convicted", self, out)
			}
			// What the convicted said is void, so rank 1 is cleared.
			if due, open := m.Due(); open {
				t.Errorf("rank %d: another verdict is due at %v", self, due)
			}
		}
	}
}

// TestMajority convicts the rank that most have lost, not its loudest accuser.
func TestMajority(t *testing.T) {
	m := New(four, 0)
	for _, x := range []Accusation{{By: 1, Rank: 3, Broke: true}, {By: 1, Rank: 2, Broke: true}, {By: 3, Rank: 1, Broke: true}, {By: 2, Rank: 1, Broke: true}} {
		m.Accuse(x, 0)
	}
	if out := m.Tick(second); out.Verdict == nil || out.Verdict.Rank != 1 {
		t.Errorf("got %+v, want rank 1", out)
	}
}

// TestTwoDeaths convicts both, one after the other.
func TestTwoDeaths(t *testing.T) {
	m := New(four, 0)
	m.Accuse(Accusation{Rank: 1, Cause: "x", Broke: true}, 0)
	m.Accuse(Accusation{Rank: 2, Cause: "y", Broke: true}, 0)
	v, _, _ := run(m, 0, second, func(int, time.Duration) bool { return true })
	if len(v) != 2 || v[0].Rank != 2 || v[1].Rank != 1 {
		t.Errorf("got %v", v)
	}
}

// TestDyingAccuser: of two that die, one may have had the time to accuse the other, or
// anybody, to some ranks only. All come to the same verdict.
func TestDyingAccuser(t *testing.T) {
	const n = 6
	for name, said := range map[string][]Accusation{
		"nothing":            nil,
		"against the other":  {{By: 4, Rank: 1, Broke: true}},
		"against a survivor": {{By: 4, Rank: 5, Broke: true}, {By: 1, Rank: 5, Broke: true}},
		"against everybody":  {{By: 1, Rank: 4, Broke: true}, {By: 1, Rank: 0, Broke: true}, {By: 1, Rank: 2, Broke: true}, {By: 1, Rank: 3, Broke: true}, {By: 1, Rank: 5, Broke: true}},
	} {
		m := New(Config{Size: n, Timeout: 2 * second, Grace: 10 * second}, 0)
		for _, a := range said {
			m.Accuse(a, second)
		}
		for _, by := range []int{0, 2, 3, 5} {
			m.Accuse(Accusation{By: by, Rank: 4, Cause: "reset", Broke: true}, second)
			m.Accuse(Accusation{By: by, Rank: 1, Cause: "reset", Broke: true}, second)
		}
		due, _ := m.Due()
		if v := m.Tick(due).Verdict; v == nil || v.Rank != 4 {
			t.Errorf("said %s: got %v, want rank 4 convicted", name, v)
		}
	}
}

// TestLeft does not blame a rank that said goodbye, and takes nothing twice.
func TestLeft(t *testing.T) {
	m := New(four, 0)
	m.Left(1)
	if m.Accuse(Accusation{By: 2, Rank: 1, Broke: true}, 0) {
		t.Error("a rank that left was accused")
	}
	if m.Accuse(Accusation{By: 2, Rank: 2}, 0) {
		t.Error("a rank accused itself")
	}
	if !m.Accuse(Accusation{By: 2, Rank: 3}, 0) || m.Accuse(Accusation{By: 2, Rank: 3}, 0) {
		t.Error("an accusation does not count exactly once")
	}
	if !m.Convict(3, 0) || m.Convict(3, 0) || !m.Dead(3) {
		t.Error("a verdict does not count exactly once")
	}
	if m.Accuse(Accusation{By: 3, Rank: 2}, 0) {
		t.Error("the dead were believed")
	}
}
