package bench

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A Table writes rows for people: the columns of nccl-tests, followed by the distribution
// of iteration times and the algorithm.
type Table struct {
	W     io.Writer
	Color Color

	rows  int
	bus   float64 // sum over rows
	wrong int64
	blind bool // some row was not checked
}

const columns = "%12s %12s %6s %6s %5s %11s %8s %8s %7s %11s %11s %11s %7s\n"

// Header writes lines about the run, each preceded by #, and the names of the columns.
func (t *Table) Header(about []string) error {
	var b strings.Builder
	b.WriteString(t.about(about))
	for _, line := range []string{
		fmt.Sprintf(columns, "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "min", "p50", "p99", "algo"),
		fmt.Sprintf(columns, "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(us)", "(us)", ""),
	} {
		// The # that makes plotting programs skip these lines replaces a leading blank.
		b.WriteString(t.Color.Bold("#"+strings.TrimRight(line[1:], " \n")) + "\n")
	}
	return t.write(b.String())
}

// Row writes one row.
func (t *Table) Row(r Row) error {
	t.count(r)
	wrong := "N/A"
	if r.Wrong != nil {
		wrong = strconv.FormatInt(*r.Wrong, 10)
	}
	line := fmt.Sprintf(columns,
		strconv.FormatInt(r.SizeBytes, 10), strconv.FormatInt(r.Count, 10), r.DType, r.Op, strconv.Itoa(r.Root),
		micros(r.Micros()), rate(r.AlgBW), rate(r.BusBW), wrong,
		micros(r.Lat.Min), micros(r.Lat.P50), micros(r.Lat.P99), r.Algo)
	if r.Bad() {
		line = t.Color.Bad(strings.TrimSuffix(line, "\n")) + "\n"
	}
	return t.write(line)
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
	if r.Rail == nil {
		t.rows++
		t.bus += r.BusBW
	}
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
	average := 0.0
	if t.rows > 0 {
		average = t.bus / float64(t.rows)
	}
	return t.write(fmt.Sprintf("%s %s\n%s %.4g GB/s\n",
		t.Color.Dim("# Out of bounds values :"), verdict,
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
