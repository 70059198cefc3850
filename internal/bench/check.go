package bench

import (
	"context"
	"fmt"
	"time"

	thunder "thundercollective"
)

// A Check selects which timed iterations are checked. Its text is the name that users
// write.
type Check string

// The checks. All but CheckNone also check an iteration before the timed ones.
const (
	// CheckAll checks every iteration. If that took longer than the timed iterations and
	// longer than checkBudget, it checks as many, evenly spaced, as fit; see Row.Checked.
	CheckAll  Check = "all"
	CheckEnds Check = "ends" // the last iteration
	CheckNone Check = "none"
)

// Checks lists the checks, the default first.
func Checks() []Check { return []Check{CheckAll, CheckEnds, CheckNone} }

// ParseCheck returns the check called s.
func ParseCheck(s string) (Check, error) {
	for _, c := range Checks() {
		if string(c) == s {
			return c, nil
		}
	}
	return "", fmt.Errorf("unknown check %q; want one of %s", s, join(Checks()))
}

// checkBudget is the time that the checks of one row may take even if its timed iterations
// take less.
const checkBudget = time.Second

// checkEvery returns the distance between iterations to check, so that the checks, which
// take cost each, fit the budget.
func checkEvery(cost, iteration time.Duration, iters int) int {
	budget := max(checkBudget, iteration*time.Duration(iters))
	total := cost * time.Duration(iters)
	return max(1, int((total+budget-1)/budget))
}

// checkCost returns how long this rank takes to check one iteration: the shortest of three
// times, since the first one may find the buffers in no cache.
func checkCost(t *task) time.Duration {
	var shortest time.Duration
	for i := range 3 {
		start := time.Now()
		t.renew()
		t.wrong()
		if took := time.Since(start); i == 0 || took < shortest {
			shortest = took
		}
	}
	return shortest
}

// slowest returns the longest of the ranks' times for an iteration and for a check.
func slowest(ctx context.Context, comm *thunder.Comm, iteration, check time.Duration) (time.Duration, time.Duration, error) {
	longest := []int64{int64(iteration), int64(check)}
	err := thunder.AllReduce(ctx, comm, longest, thunder.Max)
	return time.Duration(longest[0]), time.Duration(longest[1]), err
}

// renew prepares the buffers for an iteration that will be checked, between timed ones, and
// writes as little as possible: the caches should be as the previous iteration left them.
// The operands of a reduction in place are filled in again. The inputs of other modes are
// unchanged; of their outputs, one byte of each stretch is changed, so that what is not
// received does not pass for a result.
func (t *task) renew() {
	if t.inPlace {
		for _, r := range t.inputs {
			r.p.fill(r.buf, r.start)
		}
	}
	stride := 4096
	if len(t.blank) <= stride {
		stride = 64
	}
	for i := 0; i < len(t.blank); i += stride {
		t.blank[i] = ^t.blank[i]
	}
}
