package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"thundercollective/internal/recorder"
)

// judge sets the verdict to the most important finding: ranks that called different
// operations, then a lost rank, then ranks that wait for each other or for a message, then
// a rank that did not arrive, then ranks that wait for long, then a slow one. A rank that
// is missing is a finding, too.
func (r *Report) judge(id uint32) {
	for _, find := range []func(uint32) string{r.disagreement, r.unlike, r.loss, r.stuck, r.absence, r.failure, r.waiting} {
		if r.Verdict = find(id); r.Verdict != "" {
			return
		}
	}
	r.Healthy = len(r.Missing) == 0 && len(r.Unanswered) == 0
	r.Verdict = r.straggler()
	switch {
	case len(r.Missing) > 0:
		r.Verdict = fmt.Sprintf("there is nothing from %s, %s; of the others, %s", ranks(r.Missing), r.whyMissing(r.Missing), r.Verdict)
	case len(r.Unanswered) > 0: // one that is not of this job, or an earlier generation
		r.Verdict += fmt.Sprintf("; %s did not answer", strings.Join(r.Unanswered, ", "))
	}
}

// disagreement finds the first operation that ranks called differently.
func (r *Report) disagreement(id uint32) (text string) {
	r.shared(id, func(ops map[int]*recorder.Operation) {
		if text != "" {
			return
		}
		callers := map[string][]int{}
		var seq uint64
		for rank, o := range ops {
			callers[o.Call] = append(callers[o.Call], rank)
			seq = o.Seq
		}
		if len(callers) < 2 {
			return
		}
		calls := make([]string, 0, len(callers))
		for call, who := range callers {
			slices.Sort(who)
			calls = append(calls, call)
		}
		// The rank that is alone is probably wrong, so it comes first.
		slices.SortFunc(calls, func(a, b string) int {
			if d := len(callers[a]) - len(callers[b]); d != 0 {
				return d
			}
			return callers[a][0] - callers[b][0]
		})
		var parts []string
		for _, call := range calls {
			parts = append(parts, fmt.Sprintf("%s called %s", ranks(callers[call]), call))
		}
		text = fmt.Sprintf("operation #%d: %s", seq, strings.Join(parts, ", "))
	})
	return text
}

// loss names a rank that the others lost.
func (r *Report) loss(id uint32) string {
	votes := map[int]int{}
	worst, text := -1, ""
	for _, d := range r.byRank {
		g := of(d, id)
		if g == nil || g.Failure == nil || g.Failure.Kind != "lost" {
			continue
		}
		votes[g.Failure.Rank]++
		if worst < 0 || votes[g.Failure.Rank] > votes[worst] || votes[g.Failure.Rank] == votes[worst] && d.Rank != g.Failure.Rank {
			worst, text = g.Failure.Rank, g.Failure.Text
		}
	}
	if worst < 0 {
		return ""
	}
	text = strings.TrimPrefix(text, "thunder: ")
	if r.byRank[worst] == nil {
		text += "; it left no dump"
	}
	return text
}

// late returns the latest operation in which ranks wait and the ranks that have not started
// it, or nil if there is none.
func (r *Report) late(id uint32) (waiting *recorder.Operation, late []int) {
	last, waiter := uint64(0), 0
	at := map[int]uint64{}
	for rank := range r.Size {
		d := r.byRank[rank]
		if d == nil || of(d, id) == nil {
			continue
		}
		g := of(d, id)
		at[rank] = 0
		if n := len(g.Operations); n > 0 {
			o := &g.Operations[n-1]
			at[rank] = o.Seq
			if o.Seq > last || o.Seq == last && waiting == nil {
				last, waiting = o.Seq, nil
				if o.State != "done" {
					waiting, waiter = o, rank
				}
			}
		}
	}
	if waiting == nil {
		return nil, nil
	}
	for rank, seq := range at {
		if seq < last && r.seenAfter(rank, waiter, waiting) {
			late = append(late, rank)
		}
	}
	if len(late) == 0 {
		return nil, nil
	}
	slices.Sort(late)
	return waiting, late
}

// seenAfter reports whether the dump of a rank was made well after another rank started an
// operation, so that an operation missing from it means something: the dumps of a running
// job are not made at the same moment. If the clocks cannot be compared, it is true.
func (r *Report) seenAfter(rank, other int, o *recorder.Operation) bool {
	here, known := r.shift[rank]
	there, both := r.shift[other]
	if !known || !both {
		return true
	}
	return r.byRank[rank].Time.Add(here).Sub(o.Begin.Add(there)) >= notable
}

// absence names ranks that have not started an operation in which others wait.
func (r *Report) absence(id uint32) string {
	waiting, late := r.late(id)
	if waiting == nil || waiting.Took < tooLong && (!r.failed(id) || aborted(r.byRank, id)) {
		return ""
	}
	text := fmt.Sprintf("%s had not called operation #%d, %s, while others waited in it for %v", ranks(late), waiting.Seq, waiting.Call, waiting.Took.Round(time.Millisecond))
	if g := of(r.byRank[late[0]], id); len(g.Operations) > 0 {
		o := g.Operations[len(g.Operations)-1]
		text += fmt.Sprintf("; the latest call of rank %d was #%d, %s, %s", late[0], o.Seq, o.Call, o.State)
	}
	return text
}

// aborted reports whether a rank ended the group on purpose. Others that had just called
// something then did not wait for it.
func aborted(dumps map[int]*recorder.Dump, id uint32) bool {
	for _, d := range dumps {
		if g := of(d, id); g != nil && g.Failure != nil && g.Failure.Kind == "abort" {
			return true
		}
	}
	return false
}

// failure returns the error of the first rank that reported one.
func (r *Report) failure(id uint32) string {
	for rank := range r.Size {
		if d := r.byRank[rank]; d != nil {
			if g := of(d, id); g != nil && g.Failure != nil {
				return strings.TrimPrefix(g.Failure.Text, "thunder: ")
			}
		}
	}
	return ""
}

// notable is the median lateness from which a rank is worth mentioning.
const notable = time.Millisecond

// straggler names the rank that others usually wait for.
func (r *Report) straggler() string {
	worst := -1
	for i := range r.Ranks {
		if worst < 0 || r.Ranks[i].Late > r.Ranks[worst].Late {
			worst = i
		}
	}
	if worst < 0 || r.Ranks[worst].Late < notable {
		return "all ranks agree, and none is late"
	}
	return fmt.Sprintf("all ranks agree; rank %d is typically the last to arrive, %v after the first", r.Ranks[worst].Rank, r.Ranks[worst].Late.Round(100*time.Microsecond))
}

// ranks lists ranks in words: "ranks 0, 1 and 3".
func ranks(list []int) string {
	if len(list) == 1 {
		return fmt.Sprintf("rank %d", list[0])
	}
	s := "ranks "
	for i, r := range list {
		switch {
		case i == len(list)-1:
			s += " and "
		case i > 0:
			s += ", "
		}
		s += fmt.Sprint(r)
	}
	return s
}
