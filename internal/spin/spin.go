// Package spin decides when a waiting rank polls before it parks.
//
// Polling saves the cost of parking and being woken, but only while the peer runs on
// another core. When it does not - because ranks outnumber cores, or the scheduler
// has put both on the same one - polling takes away the time the peer needs; then
// the processor is offered (sched_yield) between polls, which is cheaper than parking
// but does not reliably pass it on. That cannot be seen beforehand, only by trying:
// so after polls that ended in parking, the next waits park at once, more of them
// each time, and then polling is tried again.
package spin

import "time"

// most is the longest row of waits without a try, as a power of two. At this rate a
// try that fails costs each wait a microsecond.
const most = 6

// A Spinner is the state of one waiter. The zero value never polls.
type Spinner struct {
	Budget time.Duration // how long a wait is polled for; 0 for never
	Shared bool          // others wait for this processor: offer it at once

	lost uint // tries in a row that ended in parking
	skip int  // waits that go by before the next try
}

// Try says whether to poll in the wait that begins.
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

// Won says that polling met what was waited for.
func (s *Spinner) Won() { s.lost = 0 }

// Lost says that it did not, in all of the budget.
func (s *Spinner) Lost() {
	s.lost++
	s.skip = 1<<min(s.lost, most) - 2
}
