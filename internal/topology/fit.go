package topology

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// gap is the number of blanks between columns.
const gap = 2

// fit returns rows, the first of which has the names of the columns, without as many of the
// columns in drop as necessary, in that order, for lines of at most width characters. A
// width of 0 is no limit.
func fit(rows [][]string, width int, drop ...string) [][]string {
	for _, name := range drop {
		if width <= 0 || lineWidth(rows) <= width {
			break
		}
		i := slices.Index(rows[0], name)
		narrower := make([][]string, len(rows))
		for k, row := range rows {
			narrower[k] = row
			if i < len(row) {
				narrower[k] = slices.Delete(slices.Clone(row), i, i+1)
			}
		}
		rows = narrower
	}
	return rows
}

// lineWidth returns the length of the longest line of a table.
func lineWidth(rows [][]string) int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	return total
}

// writeRows writes a table.
func writeRows(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 4, gap, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}
