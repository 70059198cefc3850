package launch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"thundercollective/internal/plural"
)

// summaryRanks is the number of ranks that a summary lists individually.
const summaryRanks = 8

// summarize reports which rank failed first or caused the failure, how, with its last
// lines of output, and what happened to the others.
func (g *generation) summarize(err error) {
	re, isRank := errors.AsType[*RankError](err)
	if !isRank {
		for line := range strings.SplitSeq(err.Error(), "\n") { // one line for each of several machines
			g.printer.Note("%s", line)
		}
	} else {
		g.reportRank(re, re.Tail)
	}
	var others []int
	succeeded := 0
	for rank := range g.ranks {
		switch {
		case isRank && rank == re.Rank:
		case g.ranks[rank].ended && g.ranks[rank].how == "":
			succeeded++
		default:
			others = append(others, rank)
		}
	}
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(g.ranks[a].after, g.ranks[b].after) })
	for i, rank := range others {
		if i == summaryRanks && len(others) > summaryRanks+1 {
			g.printer.Note("and %d more", len(others)-i)
			break
		}
		g.printer.Note("rank %d on %s %s", rank, machineOf(g.place, rank), g.fate(rank))
	}
	if succeeded > 0 {
		g.printer.Note("%s had succeeded", plural.Count(succeeded, "rank"))
	}
}

// reportRank reports how the rank at fault failed, with its last lines of output. It failed
// first, unless others that failed because of it were gone before it.
func (g *generation) reportRank(e *RankError, tail []string) {
	did := "failed first"
	for rank := range g.ranks {
		if st := &g.ranks[rank]; rank != e.Rank && st.ended && st.how != "" && st.after < e.After {
			did = "caused the failure"
		}
	}
	g.printer.Note("rank %d on %s %s: it %s after %v%s", e.Rank, e.Host, did, e.How, e.After.Round(time.Millisecond), g.because(e.Rank))
	if len(tail) > 0 {
		g.printer.Note("its last lines:")
	}
	for _, line := range tail {
		g.printer.Note("  %s", line)
	}
}

// fate describes what happened to a rank.
func (g *generation) fate(rank int) string {
	st := g.ranks[rank]
	var b strings.Builder
	switch {
	case !st.ended:
		return "was lost with its machine"
	case st.how == "":
		return "had succeeded"
	}
	b.WriteString(st.how)
	if re, ok := errors.AsType[*RankError](g.first); ok {
		switch d := (st.after - re.After).Round(time.Millisecond); {
		case d < 0:
			fmt.Fprintf(&b, " %v earlier", -d)
		case d > 0:
			fmt.Fprintf(&b, " %v later", d)
		default:
			b.WriteString(" at the same time")
		}
	}
	return b.String() + g.because(rank)
}

// because returns the rank that a rank blames, and why.
func (g *generation) because(rank int) string {
	st := &g.ranks[rank]
	if st.blames == nil {
		return ""
	}
	text := fmt.Sprintf(", because of rank %d", *st.blames)
	if st.why != "" {
		text += " (" + st.why + ")"
	}
	return text
}
