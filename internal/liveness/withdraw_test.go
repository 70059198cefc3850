package liveness

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestHeardAgain has a rank come back between its accusation and the verdict: nobody is
// convicted, and the others are told. The next silence counts again.
func TestHeardAgain(t *testing.T) {
	m := New(four, 0)
	const back = second + 13*second/8
	silent := func(from, to time.Duration) func(int, time.Duration) bool {
		return func(r int, now time.Duration) bool { return r != 2 || now < from || now >= to }
	}
	var accused, withdrawn []time.Duration
	for now := time.Duration(0); now <= 6*second; now += m.cfg.Tick() {
		for r := 1; r < 4; r++ {
			if silent(second, back)(r, now) {
				m.Heard(r, now)
			}
		}
		out := m.Tick(now)
		if out.Verdict != nil {
			t.Fatalf("after %v: %+v", now, *out.Verdict)
		}
		for _, a := range out.Accuse {
			accused = append(accused, a.At)
		}
		for _, w := range out.Withdraw {
			withdrawn = append(withdrawn, w.At)
			if w.Rank != 2 || w.By != 0 {
				t.Errorf("got %+v", w)
			}
		}
	}
	if len(accused) != 1 || !slices.Equal(withdrawn, []time.Duration{back}) || accused[0] >= back {
		t.Errorf("accused at %v, withdrawn at %v, want once each, withdrawn at %v", accused, withdrawn, back)
	}
	if v, _, _ := run(m, 6*second, 10*second, silent(6*second, time.Hour)); len(v) != 1 || v[0].Rank != 2 {
		t.Errorf("the next silence: %v", v)
	}
}

// TestWithdrawal takes back what another rank said, in whatever order it arrives, but not
// that a connection broke.
func TestWithdrawal(t *testing.T) {
	accuse := Accusation{By: 1, Rank: 2, Cause: "silent", At: second}
	withdraw := Withdrawal{By: 1, Rank: 2, At: second + 1}
	again := Accusation{By: 1, Rank: 2, Cause: "silent again", At: 3 * second}
	broke := Accusation{By: 1, Rank: 2, Cause: "reset", Broke: true}
	for _, tt := range []struct {
		name  string
		say   []any
		cause string // "" for no verdict
	}{
		{"in order", []any{accuse, withdraw}, ""},
		{"the withdrawal first", []any{withdraw, accuse}, ""},
		{"passed on late", []any{accuse, withdraw, accuse}, ""},
		{"again", []any{accuse, withdraw, again}, "silent again"},
		{"again before the withdrawal", []any{accuse, again, withdraw}, "silent"},
		{"it broke", []any{broke, withdraw}, "reset"},
		{"it broke as well", []any{accuse, broke, withdraw}, "reset"},
		{"it breaks later", []any{accuse, withdraw, broke}, "reset"},
		{"of somebody else", []any{accuse, Withdrawal{By: 3, Rank: 2, At: 2 * second}}, "silent"},
	} {
		m := New(four, 3*second)
		for _, x := range tt.say {
			switch x := x.(type) {
			case Accusation:
				m.Accuse(x, 3*second)
			case Withdrawal:
				m.Withdraw(x, 3*second)
			}
		}
		cause := ""
		if v := m.Tick(3*second + four.Timeout/8).Verdict; v != nil {
			cause = v.Cause
		}
		if cause != tt.cause {
			t.Errorf("%s: verdict %q, want %q", tt.name, cause, tt.cause)
		}
	}
}

// TestStallBeforeVerdict has this rank not run while a verdict is due: the withdrawal has
// come and is not read yet.
func TestStallBeforeVerdict(t *testing.T) {
	m := New(four, 0)
	m.Accuse(Accusation{By: 1, Rank: 2, Cause: "silent"}, 0)
	if v := m.Tick(60 * second).Verdict; v != nil {
		t.Fatalf("got %+v at once", *v)
	}
	m.Withdraw(Withdrawal{By: 1, Rank: 2, At: 1}, 60*second)
	if v := m.Tick(60*second + four.Timeout/8).Verdict; v != nil {
		t.Errorf("got %+v", *v)
	}
}

// TestSameVerdict lets ranks fall silent and come back around the time of the verdict, with
// notices that take their time. All ranks come to the same verdict: that rank, or nobody.
func TestSameVerdict(t *testing.T) {
	convicted, spared := 0, 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 7))
		got := sameVerdict(rng, 3+rng.IntN(4))
		switch {
		case !slices.Equal(got, slices.Repeat(got[:1], len(got))) || got[0] > 1:
			t.Fatalf("seed %d: the verdicts of the ranks are %v", seed, got)
		case got[0] == 1:
			convicted++
		default:
			spared++
		}
	}
	t.Logf("convicted %d times, spared %d times", convicted, spared)
	if convicted == 0 || spared == 0 {
		t.Errorf("convicted %d times, spared %d times, want some of both", convicted, spared)
	}
}

// sameVerdict has rank 1 of n be out of reach for a while. It returns whom each rank
// convicted; -1 for nobody.
func sameVerdict(rng *rand.Rand, n int) []int {
	type message struct {
		at       time.Duration
		from, to int
		what     any // nil is a heartbeat, an int a verdict
	}
	const step = time.Millisecond
	from := 2*second + time.Duration(rng.IntN(500))*step
	to := from + 1100*step + time.Duration(rng.IntN(900))*step
	var under []message
	monitors, verdicts := make([]*Monitor, n), make([]int, n)
	for r := range monitors {
		cfg := four
		cfg.Self, cfg.Size = r, n
		monitors[r], verdicts[r] = New(cfg, 0), -1
	}
	last := map[[2]int]time.Duration{} // links deliver in order
	send := func(now time.Duration, r, q int, what any) {
		if r == q {
			return
		}
		at := now + time.Duration(1+rng.IntN(20))*step
		if (r == 1 || q == 1) && at >= from && at < to {
			at = to + time.Duration(rng.IntN(20))*step
		}
		at = max(at, last[[2]int{r, q}])
		last[[2]int{r, q}] = at
		under = append(under, message{at, r, q, what})
	}
	tell := func(now time.Duration, r int, what any) {
		for q := range n {
			send(now, r, q, what)
		}
	}
	convict := func(r, who int) {
		if verdicts[r] < 0 {
			verdicts[r] = who
		}
	}
	for now := time.Duration(0); now < 7*second; now += step {
		later := under[:0:0]
		for _, x := range under {
			if x.at > now {
				later = append(later, x)
			}
		}
		due := slices.DeleteFunc(under, func(x message) bool { return x.at > now })
		under = later
		for _, x := range due {
			m := monitors[x.to]
			m.Heard(x.from, now)
			switch what := x.what.(type) {
			case Accusation:
				if m.Accuse(what, now) {
					send(now, x.to, what.Rank, what)
				}
			case Withdrawal:
				if m.Withdraw(what, now) {
					send(now, x.to, what.Rank, what)
				}
			case int:
				if !m.Dead(x.from) && m.Convict(what, now) {
					convict(x.to, what)
				}
			}
		}
		for r, m := range monitors {
			phase := time.Duration(r) * 7 * step
			if (now+phase)%m.cfg.Beat() == 0 {
				tell(now, r, nil)
			}
			if at, open := m.Due(); (now+phase)%m.cfg.Tick() != 0 && (!open || at > now) && len(m.heard) == 0 {
				continue
			}
			out := m.Tick(now)
			for _, w := range out.Withdraw {
				tell(now, r, w)
			}
			for _, a := range out.Accuse {
				tell(now, r, a)
			}
			if v := out.Verdict; v != nil {
				convict(r, v.Rank)
				tell(now, r, v.Rank)
			}
		}
	}
	return verdicts
}
