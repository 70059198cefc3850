package bench

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A Table writes rows for people: the columns of nccl-tests, followed by the distribution
// of iteration times and the algorithm.
type Table struct {
	W     io.Writer
	Color Color

	// Width is the number of characters in a line of the terminal; 0 if there is no limit.
	// Columns that do not fit are omitted, the least important first.
	Width int

	rows  int
	bus   float64 // sum over rows
	wrong int64
	blind bool // some row was not checked
	// Of all rows: timed iterations, and how many of them were checked.
	iters, checked int
}

// A column is one column of the table.
type column struct {
	name, unit string
	width      int
	drop       int // the order in which columns are omitted from a narrow table; 0 for never
	cell       func(Row) string
}

func columns() []column {
	return []column{
		{"size", "(B)", 12, 0, func(r Row) string { return strconv.FormatInt(r.SizeBytes, 10) }},
		{"count", "(elements)", 12, 2, func(r Row) string { return strconv.FormatInt(r.Count, 10) }},
		{"type", "", 6, 4, func(r Row) string { return r.DType }},
		{"redop", "", 6, 3, func(r Row) string { return r.Op }},
		{"root", "", 5, 1, func(r Row) string { return strconv.Itoa(r.Root) }},
		{"time", "(us)", 11, 0, timed(func(r Row) string { return micros(r.Micros()) })},
		{"algbw", "(GB/s)", 8, 7, timed(func(r Row) string { return rate(r.AlgBW) })},
		{"busbw", "(GB/s)", 8, 0, timed(func(r Row) string { return rate(r.BusBW) })},
		{"#wrong", "", 7, 0, wrongCell},
		{"min", "(us)", 11, 5, timed(func(r Row) string { return micros(r.Lat.Min) })},
		{"p50", "(us)", 11, 8, timed(func(r Row) string { return micros(r.Lat.P50) })},
		{"p99", "(us)", 11, 9, timed(func(r Row) string { return micros(r.Lat.P99) })},
		{"algo", "", 7, 6, func(r Row) string { return r.Algo }},
	}
}

// timed returns a cell that is empty in rows without measurements.
func timed(cell func(Row) string) func(Row) string {
	return func(r Row) string {
		if r.Alone {
			return "-"
		}
		return cell(r)
	}
}

func wrongCell(r Row) string {
	if r.Wrong == nil {
		return "N/A"
	}
	return strconv.FormatInt(*r.Wrong, 10)
}

// fitting returns the columns that fit the width of the table.
func (t *Table) fitting() []column {
	list := columns()
	for drop := 1; t.Width > 0 && width(list) > t.Width; drop++ {
		i := slices.IndexFunc(list, func(c column) bool { return c.drop == drop })
		if i < 0 {
			break
		}
		list = slices.Delete(list, i, i+1)
	}
	return list
}

// width returns the length of a line of the table.
func width(list []column) int {
	n := len(list) - 1
	for _, c := range list {
		n += c.width
	}
	return n
}

// line writes one cell for each column.
func (t *Table) line(cell func(column) string) string {
	var cells []string
	for _, c := range t.fitting() {
		cells = append(cells, fmt.Sprintf("%*s", c.width, cell(c)))
	}
	return strings.Join(cells, " ")
}

// Header writes lines about the run, each preceded by #, and the names of the columns.
func (t *Table) Header(about []string) error {
	var b strings.Builder
	b.WriteString(t.about(about))
	for _, line := range []string{
		t.line(func(c column) string { return c.name }),
		t.line(func(c column) string { return c.unit }),
	} {
		// The # that makes plotting programs skip these lines replaces a leading blank.
		b.WriteString(t.Color.Bold("#"+strings.TrimRight(line[1:], " ")) + "\n")
	}
	return t.write(b.String())
}

// Row writes one row.
func (t *Table) Row(r Row) error {
	t.count(r)
	line := t.line(func(c column) string { return c.cell(r) })
	if r.Bad() {
		line = t.Color.Bad(line)
	}
	return t.write(line + "\n")
}

// about returns the lines about the run, each preceded by #.
func (t *Table) about(lines []string) string {
	var b strings.Builder
	for _, line := range append(lines, "") {
		b.WriteString(t.Color.Dim(strings.TrimRight("# "+line, " ")) + "\n")
	}
	return b.String()
}

// count adds the row to the summary.
func (t *Table) count(r Row) {
	if r.Rail == nil && !r.Alone {
		t.rows++
		t.bus += r.BusBW
	}
	t.iters += r.Iters
	t.checked += r.Checked
	switch {
	case r.Wrong != nil:
		t.wrong += *r.Wrong
	case r.Rail == nil || !r.Rail.Down:
		t.blind = true
	}
}

// Footer writes the summary at the end, as nccl-tests does.
func (t *Table) Footer() error {
	verdict := t.Color.Good("0 OK")
	switch {
	case t.wrong > 0:
		verdict = t.Color.Bad(fmt.Sprintf("%d FAILED", t.wrong))
	case t.blind:
		verdict = "N/A (not checked)"
	}
	average := "N/A"
	if t.rows > 0 {
		average = fmt.Sprintf("%.4g GB/s", t.bus/float64(t.rows))
	}
	return t.write(fmt.Sprintf("%s %s\n%s %d of %d\n%s %s\n",
		t.Color.Dim("# Out of bounds values :"), verdict,
		t.Color.Dim("# Checked iterations   :"), t.checked, t.iters,
		t.Color.Dim("# Avg bus bandwidth    :"), average))
}

func (t *Table) write(s string) error {
	_, err := io.WriteString(t.W, s)
	return err
}

// micros formats a time with as many decimals as fit nine characters.
func micros(us float64) string {
	switch {
	case us >= 1e6:
		return strconv.FormatFloat(us, 'f', 0, 64)
	case us >= 1e4:
		return strconv.FormatFloat(us, 'f', 1, 64)
	default:
		return strconv.FormatFloat(us, 'f', 2, 64)
	}
}

// rate formats GB/s with two decimals as nccl-tests does, and with more if the value would
// appear as zero.
func rate(gbs float64) string {
	switch {
	case gbs == 0 || gbs >= 0.1:
		return strconv.FormatFloat(gbs, 'f', 2, 64)
	case gbs >= 0.0001:
		return strconv.FormatFloat(gbs, 'f', 4, 64)
	default:
		return strconv.FormatFloat(gbs, 'f', 6, 64)
	}
}
