package bench

import "thundercollective/internal/plot"

// A Line is the rows of one run over a range of sizes, drawn as one line.
type Line struct {
	Name string // "" if it is the only line
	Rows []Row
}

// Chart draws time and bus bandwidth over size, one line for each run. A band around the
// time reaches from the minimum to the 99th percentile.
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
