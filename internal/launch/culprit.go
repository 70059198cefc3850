package launch

import (
	"errors"
	"syscall"
)

// culprit returns the failure of the rank that caused the others to fail, according to what
// they report. A rank that loses a peer may exit before that peer: dying from an exception
// takes longer than failing from a lost connection. If the first rank blames ranks that are
// healthy, or that were ended with the job, it stays the culprit; so does the first of
// ranks that blame each other.
func (g *generation) culprit(first error) error {
	re, ok := errors.AsType[*RankError](first)
	if !ok {
		return first
	}
	seen := map[int]bool{}
	rank := re.Rank
	for !seen[rank] {
		seen[rank] = true
		to := g.ranks[rank].blames
		if to == nil || *to >= len(g.ranks) {
			break
		}
		if seen[*to] {
			return first
		}
		if !g.failedItself(*to) {
			break
		}
		rank = *to
	}
	if rank == re.Rank {
		return first
	}
	st := g.ranks[rank]
	return &RankError{Rank: rank, Host: machineOf(g.place, rank), Code: st.code, How: st.how, After: st.after}
}

// failedItself reports whether a rank failed without having been ended because of another.
// Its agent knows whether it had sent signals before.
func (g *generation) failedItself(rank int) bool {
	st := g.ranks[rank]
	if !st.ended || st.how == "" {
		return false
	}
	switch st.code {
	case 128 + int(syscall.SIGTERM), 128 + int(syscall.SIGKILL):
		return !st.ending
	}
	return true
}
