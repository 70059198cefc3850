package rdma

import "time"

// spinner decides how long a caller polls before it parks: as long as polling has
// met its completion lately. A poll that ended in parking halves the budget, down
// to nothing; every probeEvery-th wait then tries again, for the least time.
type spinner struct {
	max, budget time.Duration
	parked      int // waits without polling since the budget reached 0
}

const (
	leastSpin  = 2 * time.Microsecond
	probeEvery = 64
)

func (s *spinner) won() { s.budget = min(2*s.budget, s.max) }

func (s *spinner) lost() {
	if s.budget /= 2; s.budget < leastSpin {
		s.budget = 0
	}
}

func (s *spinner) next() {
	if s.budget > 0 || s.max == 0 {
		return
	}
	if s.parked++; s.parked >= probeEvery {
		s.parked, s.budget = 0, min(leastSpin, s.max)
	}
}
