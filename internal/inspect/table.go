package inspect

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteTable writes one line for each rank, with a column for incomplete messages if there
// are any.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	messages := slices.ContainsFunc(r.Ranks, func(l Rank) bool { return len(l.Waits) > 0 })
	fmt.Fprint(t, "RANK\tHOST\tLAST\tCALL\tSTATE\tFOR\tTYPICALLY LATE BY")
	if messages {
		fmt.Fprint(t, "\tINCOMPLETE")
	}
	fmt.Fprintln(t)
	for rank, i := 0, 0; rank < r.Size; rank++ {
		if i == len(r.Ranks) || r.Ranks[i].Rank != rank {
			why := "no dump"
			if len(r.Unanswered) > 0 {
				why = "no answer"
			}
			fmt.Fprintf(t, "%d\t?\t\t%s\t\t\t\n", rank, why)
			continue
		}
		l := &r.Ranks[i]
		i++
		fmt.Fprintf(t, "%d\t%s\t#%d\t%s\t%s\t%v\t%v", l.Rank, l.Host, l.Seq, l.Call, l.State, round(l.Took), round(l.Late))
		if messages {
			fmt.Fprintf(t, "\t%s", strings.Join(l.Waits, "; "))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// round removes digits that are not significant.
func round(d time.Duration) time.Duration {
	switch {
	case d > time.Second:
		return d.Round(10 * time.Millisecond)
	case d > time.Millisecond:
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(100 * time.Nanosecond)
}
