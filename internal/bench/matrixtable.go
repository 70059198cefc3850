package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"thundercollective/internal/plot"
)

// A grid holds one measurement of every ordered pair of ranks: cells[from][to], NaN if
// there is none, and rails[from][to][i] for each rail if a pair has several.
type grid struct {
	name  string // "bandwidth one way"
	unit  string
	cells [][]float64
	rails [][][]float64
}

// A quantity is one of the measurements in a row of Matrix.
type quantity struct {
	name, unit string
	of         func(*Row) float64
}

// quantities lists the quantities in the order in which they are shown.
func quantities() []quantity {
	return []quantity{
		{"bandwidth one way", "GB/s", func(r *Row) float64 { return r.AlgBW }},
		{"bandwidth both ways", "GB/s", func(r *Row) float64 { return valueOf(r.BothBW) }},
		{"round trip p50", "us", func(r *Row) float64 { return r.Lat.P50 }},
		{"round trip p99", "us", func(r *Row) float64 { return r.Lat.P99 }},
		{"streams", "", func(r *Row) float64 { return float64(r.Streams) }},
	}
}

func valueOf(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// grids sorts the rows of a Matrix run into one grid for each quantity.
func grids(rows []Row) []grid {
	n := 0
	for _, r := range rows {
		n = max(n, r.WorldSize)
	}
	var out []grid
	for _, m := range quantities() {
		g := grid{name: m.name, unit: m.unit, cells: make([][]float64, n), rails: make([][][]float64, n)}
		for i := range g.cells {
			g.cells[i], g.rails[i] = make([]float64, n), make([][]float64, n)
			for j := range g.cells[i] {
				g.cells[i][j] = math.NaN()
			}
		}
		for i := range rows {
			r := &rows[i]
			switch {
			case r.From == nil || r.To == nil:
			case r.Rail == nil:
				g.cells[*r.From][*r.To] = m.of(r)
			case r.Rail.Down:
				g.rails[*r.From][*r.To] = append(g.rails[*r.From][*r.To], math.NaN())
			default:
				g.rails[*r.From][*r.To] = append(g.rails[*r.From][*r.To], m.of(r))
			}
		}
		out = append(out, g)
	}
	return out
}

func (g *grid) title() string {
	if g.unit == "" {
		return g.name
	}
	return fmt.Sprintf("%s (%s)", g.name, g.unit)
}

// Heat draws the rows of a Matrix run as heat maps.
func Heat(title, subtitle string, rows []Row) *plot.HeatMap {
	h := &plot.HeatMap{Title: title, Subtitle: subtitle}
	if slices.ContainsFunc(rows, func(r Row) bool { return r.Rail != nil }) {
		h.Note = "A cell shows all rails of a pair together; below it is each rail alone, in the order of their addresses."
	}
	for _, g := range grids(rows) {
		if g.unit == "" {
			continue // the table shows it
		}
		ranks := make([]string, len(g.cells))
		for i := range ranks {
			ranks[i] = strconv.Itoa(i)
		}
		hue := 0
		if g.unit == "us" {
			hue = 1
		}
		h.Tables = append(h.Tables, plot.HeatTable{
			Title: g.title(), Row: "from", Col: "to", Names: ranks, Cells: g.cells, Parts: g.rails, Hue: hue, Format: short,
		})
	}
	return h
}

// short formats a value in few characters.
func short(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Matrix writes the rows of a Matrix run as one square table for each quantity, with a row
// for each sender and a column for each receiver, followed by a list of the rails if some
// pair has several.
func (t *Table) Matrix(about []string, rows []Row) error {
	var b strings.Builder
	b.WriteString(t.about(about))
	for _, g := range grids(rows) {
		b.WriteString(t.Color.Bold("# "+g.title()) + "\n" + t.Color.Dim("# from \\ to"))
		for j := range g.cells {
			b.WriteString(t.Color.Dim(fmt.Sprintf(" %9d", j)))
		}
		b.WriteByte('\n')
		for i, row := range g.cells {
			b.WriteString(t.Color.Dim(fmt.Sprintf("%11d", i)))
			for _, v := range row {
				fmt.Fprintf(&b, " %9s", g.text(v))
			}
			b.WriteByte('\n')
		}
		b.WriteString(t.Color.Dim("#") + "\n")
	}
	t.rails(&b, rows)
	for _, r := range rows {
		t.count(r)
	}
	return t.write(b.String())
}

// text formats a value for a table.
func (g *grid) text(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case g.unit == "":
		return strconv.FormatFloat(v, 'f', 0, 64)
	case g.unit == "us":
		return micros(v)
	}
	return rate(v)
}

const railColumns = "%6s %4s %5s  %-10s %-20s %-20s %9s %9s %9s %9s %7s\n"

// rails lists the figures of each rail alone.
func (t *Table) rails(b *strings.Builder, rows []Row) {
	first := true
	for _, r := range rows {
		if r.Rail == nil {
			continue
		}
		if first {
			first = false
			b.WriteString(t.Color.Bold("# each rail alone") + "\n")
			for _, line := range []string{
				fmt.Sprintf(railColumns, "from", "to", "rail", "interface", "near", "far", "one way", "both ways", "p50", "p99", "streams"),
				fmt.Sprintf(railColumns, "", "", "", "", "", "", "(GB/s)", "(GB/s)", "(us)", "(us)", ""),
			} {
				b.WriteString(t.Color.Bold("#"+strings.TrimRight(line[1:], " \n")) + "\n")
			}
		}
		cells := []string{rate(r.AlgBW), rate(valueOf(r.BothBW)), micros(r.Lat.P50), micros(r.Lat.P99)}
		if r.Rail.Down {
			cells = []string{"down", "-", "-", "-"}
		}
		device := r.Rail.Device
		if device == "" {
			device = "-"
		}
		line := fmt.Sprintf(railColumns, strconv.Itoa(*r.From), strconv.Itoa(*r.To), strconv.Itoa(r.Rail.Index), device, r.Rail.Near, r.Rail.Far,
			cells[0], cells[1], cells[2], cells[3], strconv.Itoa(r.Streams))
		if r.Rail.Down || r.Bad() {
			line = t.Color.Bad(strings.TrimSuffix(line, "\n")) + "\n"
		}
		b.WriteString(line)
	}
	if !first {
		b.WriteString(t.Color.Dim("#") + "\n")
	}
}
