package bench

import (
	"fmt"
	"math"
	"strconv"

	"thundercollective/plot"
)

// A Line is the rows of one run over a range of sizes, drawn as one line.
type Line struct {
	Name string // "" when it is the only one
	Rows []Row
}

// Chart draws time and bus bandwidth over size, a line for each run, with a band
// from the least to the 99th percentile of the time.
func Chart(title, subtitle string, lines ...Line) *plot.Chart {
	size := plot.Axis{Label: "message size", Base: 2, Format: FormatSize}
	time := plot.Panel{Title: "Time (median, min to p99)", X: size, Y: plot.Axis{Base: 10, Format: FormatMicros}}
	rate := plot.Panel{Title: "Bus bandwidth", X: size, Y: plot.Axis{Base: 10, Format: FormatRate}}
	for _, l := range lines {
		t, r := plot.Series{Name: l.Name}, plot.Series{Name: l.Name}
		for _, row := range l.Rows {
			x := float64(row.SizeBytes)
			t.X, t.Y = append(t.X, x), append(t.Y, row.Lat.P50)
			t.Low, t.High = append(t.Low, row.Lat.Min), append(t.High, row.Lat.P99)
			r.X, r.Y = append(r.X, x), append(r.Y, row.BusBW)
		}
		time.Series, rate.Series = append(time.Series, t), append(rate.Series, r)
	}
	return &plot.Chart{Title: title, Subtitle: subtitle, Panels: []plot.Panel{time, rate}}
}

// Heat draws the rows of a matrix run.
func Heat(title, subtitle string, rows []Row) *plot.HeatMap {
	h := &plot.HeatMap{Title: title, Subtitle: subtitle}
	for _, g := range grids(rows) {
		ranks := make([]string, len(g.cells))
		for i := range ranks {
			ranks[i] = strconv.Itoa(i)
		}
		h.Tables = append(h.Tables, plot.HeatTable{
			Title: g.title, Row: "from", Col: "to", Names: ranks, Cells: g.cells,
			Format: func(v float64) string { return fmt.Sprintf("%.3g", v) },
		})
	}
	return h
}

// A grid is one measurement of every ordered pair of ranks: cells[from][to], NaN
// where there is none.
type grid struct {
	title string
	cells [][]float64
}

// grids sorts the rows of a matrix run into one grid a measurement.
func grids(rows []Row) []grid {
	n := 0
	for _, r := range rows {
		n = max(n, r.WorldSize)
	}
	blank := func(title string) grid {
		g := grid{title, make([][]float64, n)}
		for i := range g.cells {
			g.cells[i] = make([]float64, n)
			for j := range g.cells[i] {
				g.cells[i][j] = math.NaN()
			}
		}
		return g
	}
	out := []grid{blank("round trip p50 (us)"), blank("round trip p99 (us)"), blank("bandwidth (GB/s)")}
	for _, r := range rows {
		if r.From == nil || r.To == nil {
			continue
		}
		for i, v := range []float64{r.Lat.P50, r.Lat.P99, r.AlgBW} {
			out[i].cells[*r.From][*r.To] = v
		}
	}
	return out
}
