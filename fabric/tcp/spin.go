package tcp

import "time"

// spinner decides how long a reader polls before it parks. Polling saves the cost
// of parking and waking, but only when the message is near: a poll that ended in
// parking halves the budget, down to nothing; then every probeEvery-th wait is
// given the least budget again, to find out whether times have changed.
type spinner struct {
	max, budget time.Duration
	parked      int // waits without polling since the budget reached 0
}

const (
	leastSpin  = 2 * time.Microsecond
	probeEvery = 64
)

// won says that polling met its message.
func (s *spinner) won() { s.budget = min(2*s.budget, s.max) }

// lost says that it did not.
func (s *spinner) lost() {
	if s.budget /= 2; s.budget < leastSpin {
		s.budget = 0
	}
}

// next prepares for another wait.
func (s *spinner) next() {
	if s.budget > 0 || s.max == 0 {
		return
	}
	if s.parked++; s.parked >= probeEvery {
		s.parked, s.budget = 0, leastSpin
	}
}
