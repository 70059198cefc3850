package launch

import (
	"errors"
	"syscall"
)

// culprit is the failure of the rank that the others failed because of, as far as they
// say. A rank that loses a peer may be gone before it: it takes longer to die of an
// exception than of a lost connection. A rank that blames others who are well, or who
// were ended with the job, remains the first; so does the first of ranks that blame each
// other.
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

// failedItself reports whether a rank failed, and was not ended because another had: its
// agent knows whether it had sent signals by then.
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
