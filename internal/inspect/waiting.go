package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"thundercollective/internal/recorder"
)

// tooLong is how long ranks of a running job may be in one operation before that is a
// finding.
const tooLong = time.Second

// waiting names the ranks that have been in an operation for long, and those without a dump
// for which they may be waiting.
func (r *Report) waiting(id uint32) string {
	op, waiters := r.latest(id)
	if op == nil || op.Took < tooLong {
		return ""
	}
	where := fmt.Sprintf("operation #%d, %s", op.Seq, op.Call)
	took := op.Took.Round(10 * time.Millisecond)
	missing := r.missingOf(id)
	if len(missing) == 0 {
		return fmt.Sprintf("%s waited %v in %s, which all ranks have called", ranks(waiters), took, where)
	}
	return fmt.Sprintf("%s waited %v in %s, for %s, %s", ranks(waiters), took, where, ranks(missing), r.whyMissing(missing))
}

// latest returns the operation of a group in which ranks are at this moment, as the rank
// recorded it that has been in it for longest, and these ranks. It is nil if there is none,
// or if a rank with a dump had not called it: whether that matters is for absence to say.
func (r *Report) latest(id uint32) (op *recorder.Operation, in []int) {
	last, first := uint64(0), true
	for rank := range r.Size {
		g := r.groupOf(rank, id)
		if g == nil {
			continue
		}
		o := &recorder.Operation{}
		if n := len(g.Operations); n > 0 {
			o = &g.Operations[n-1]
		}
		if !first && o.Seq != last {
			return nil, nil
		}
		last, first = o.Seq, false
		if o.State == recorder.Running.String() {
			if op == nil || o.Took > op.Took {
				op = o
			}
			in = append(in, rank)
		}
	}
	return op, in
}

// groupOf returns what a rank recorded of a group; nil if there is no dump of it, or if it
// is not in the group.
func (r *Report) groupOf(rank int, id uint32) *recorder.Group {
	if d := r.byRank[rank]; d != nil {
		return of(d, id)
	}
	return nil
}

// missingOf returns the ranks of a group without a dump.
func (r *Report) missingOf(id uint32) []int {
	for rank := range r.Size {
		if g := r.groupOf(rank, id); g != nil {
			return slices.DeleteFunc(slices.Clone(r.Missing), func(m int) bool { return !slices.Contains(g.Ranks, m) })
		}
	}
	return r.Missing
}

// whyMissing describes ranks without a dump: "which does not answer".
func (r *Report) whyMissing(missing []int) string {
	text := "which left no dump"
	if len(r.Unanswered) > 0 {
		text = "which does not answer"
		if len(missing) > 1 {
			text = "which do not answer"
		}
		text += " (" + strings.Join(r.Unanswered, ", ") + ")"
	}
	for _, m := range missing {
		if silent, ok := r.silence(m); ok && silent >= tooLong {
			text += fmt.Sprintf("; the last heartbeat of rank %d came %v earlier", m, silent.Round(10*time.Millisecond))
		}
	}
	return text
}

// silence returns how long the other ranks had not heard from a rank.
func (r *Report) silence(rank int) (silent time.Duration, known bool) {
	for _, d := range r.byRank {
		for i := range d.Peers {
			if p := &d.Peers[i]; p.Rank == rank && (!known || p.Silent < silent) {
				silent, known = p.Silent, true
			}
		}
	}
	return silent, known
}
