package ticks

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestClocksAgree measures the same span with the quickest clock, by its books and by a
// later look at it, and with the system's. Whatever the machine does in between, both
// ends are read within the others' readings.
func TestClocksAgree(t *testing.T) {
	c := New()
	outer := time.Now()
	first := c.Now()
	inner := time.Now()
	time.Sleep(20 * time.Millisecond)
	short := time.Since(inner)
	last := c.Now()
	long := time.Since(outer)
	r := c.Read()
	slack := long/1000 + time.Microsecond
	for name, got := range map[string]time.Duration{"span": c.Span(last - first), "ago": r.Ago(first) - r.Ago(last)} {
		if got < short-slack || got > long+slack {
			t.Errorf("%s: %v took between %v and %v", name, got, short, long)
		}
	}
	if ago := r.Ago(last); ago < 0 {
		t.Errorf("%v after its reading", -ago)
	}
	if c.Span(-5) != 0 && c.rate != 0 {
		t.Errorf("a counter that was read out of order took %v", c.Span(-5))
	}
}

// TestZeroClock: without a counter, ticks are the nanoseconds of package time.
func TestZeroClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		begun := c.Now()
		time.Sleep(time.Hour)
		if got := c.Span(c.Now() - begun); got != time.Hour {
			t.Errorf("an hour took %v", got)
		}
		if got := c.Read().Ago(begun); got != time.Hour {
			t.Errorf("an hour ago is %v ago", got)
		}
	})
}

func BenchmarkNow(b *testing.B) {
	for name, c := range map[string]*Clock{"counter": New(), "time": {}} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				c.Now()
			}
		})
	}
}
