// Package spin decides when a waiting rank polls before it parks.
//
// Polling saves the cost of parking and waking up, but only while the peer runs on
// another core. If it does not, because ranks outnumber cores or the scheduler has put
// both on the same one, polling takes away the processor time that the peer needs.
// Calling sched_yield between polls is cheaper than parking, but does not always let the
// peer run. Only trying tells: after polls that ended in parking, the next waits park at
// once, more of them each time, and then polling is tried again.
package spin

import "time"

// most is the longest sequence of waits without a try, as a power of two. At this rate
// failed tries cost a microsecond per wait on average.
const most = 6

// A Spinner is the state of one waiter. The zero value never polls.
type Spinner struct {
	Budget time.Duration // how long a wait is polled for; 0 for never
	Shared bool          // other ranks need this processor: yield it at once

	lost uint // tries in a row that ended in parking
	skip int  // waits that go by before the next try
}

// Try reports whether to poll in the wait that begins.
func (s *Spinner) Try() bool {
	if s.Budget == 0 {
		return false
	}
	if s.skip > 0 {
		s.skip--
		return false
	}
	return true
}

// Won records that polling succeeded.
func (s *Spinner) Won() { s.lost = 0 }

// Lost records that polling did not succeed within the budget.
func (s *Spinner) Lost() {
	s.lost++
	s.skip = 1<<min(s.lost, most) - 2
}
