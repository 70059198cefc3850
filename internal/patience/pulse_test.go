package patience

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPulse(50 * time.Millisecond)
		time.Sleep(time.Second)
		if late := p.Worst(); late != 0 {
			t.Errorf("late by %v", late)
		}
		p.mu.Lock()
		p.last = p.last.Add(-time.Second) // as if it had not run since
		p.mu.Unlock()
		time.Sleep(time.Second)
		if late := p.Worst(); late != time.Second {
			t.Errorf("late by %v, want a second", late)
		}
		p.Stop()
	})
}
