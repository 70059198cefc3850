package spin

import (
	"testing"
	"time"
)

// tries counts how many of n waits are polled, all of which are lost.
func tries(s *Spinner, n int) int {
	count := 0
	for range n {
		if s.Try() {
			count++
			s.Lost()
		}
	}
	return count
}

func TestNeverWithoutBudget(t *testing.T) {
	if got := tries(&Spinner{}, 100); got != 0 {
		t.Errorf("polled %d times without a budget", got)
	}
}

func TestLosersParkAndWinnersPoll(t *testing.T) {
	s := &Spinner{Budget: time.Microsecond}
	if got := tries(s, 10_000); got > 200 {
		t.Errorf("polled in %d of 10000 waits although it never helped", got)
	}
	for !s.Try() {
	}
	s.Won()
	for range 100 {
		if !s.Try() {
			t.Fatal("parks although polling works again")
		}
		s.Won()
	}
	s.Lost() // once is no habit
	if !s.Try() {
		t.Error("parks after a single loss")
	}
}
