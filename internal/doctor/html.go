package doctor

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"thundercollective/internal/bench"
	"thundercollective/internal/plot"
	"thundercollective/internal/topology"
)

//go:embed manifest.html
var manifestPage string

// WriteHTML writes the launch manifest as one self-contained HTML file, with a picture of
// the cabling and charts of the measurements.
func (r *Report) WriteHTML(w io.Writer) error {
	page, err := template.New("manifest").Parse(manifestPage)
	if err != nil {
		return fmt.Errorf("manifest template: %w", err)
	}
	picture, err := image(r.Graph.WriteSVG)
	if err != nil {
		return err
	}
	var plots []template.URL
	for _, c := range r.charts() {
		p, err := image(c.WriteSVG)
		if err != nil {
			return err
		}
		plots = append(plots, p)
	}
	return page.Execute(w, struct {
		*manifest
		Picture template.URL
		Plots   []template.URL
		Name    string
	}{r.manifest(), picture, plots, r.Verdict.Name})
}

// image returns an SVG as a data URL. As an image, it does not share styles with the page.
func image(draw func(io.Writer) error) (template.URL, error) {
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		return "", err
	}
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), nil
}

// charts returns charts of bandwidth and latency over message size: one chart per cable,
// one line per tool.
func (r *Report) charts() []*plot.Chart {
	var out []*plot.Chart
	for i := range r.Graph.Cables {
		if c := r.chart(i); c != nil {
			out = append(out, c)
		}
	}
	return out
}

func (r *Report) chart(cable int) *plot.Chart {
	size := plot.Axis{Label: "message size", Base: 2, Format: bench.FormatSize}
	rate := plot.Panel{Title: "GB/s one way", X: size, Y: plot.Axis{}}
	lat := plot.Panel{Title: "µs one way, median", X: size, Y: plot.Axis{Base: 10}}
	for i := range r.Measurements {
		m := &r.Measurements[i]
		if m.Cable != cable || len(m.Rows) < 2 {
			continue
		}
		s, l := plot.Series{Name: transportName(m)}, plot.Series{Name: transportName(m)}
		for _, row := range m.Rows {
			s.X, s.Y = append(s.X, float64(row.Size)), append(s.Y, row.GBs)
			if row.P50us > 0 {
				l.X, l.Y = append(l.X, float64(row.Size)), append(l.Y, row.P50us)
			}
		}
		rate.Series = append(rate.Series, s)
		if len(l.X) > 1 {
			lat.Series = append(lat.Series, l)
		}
	}
	if len(rate.Series) == 0 {
		return nil
	}
	c := &r.Graph.Cables[cable]
	out := &plot.Chart{Title: c.String(), Subtitle: strings.TrimSpace(c.Speed() + " " + c.Label() + ", ping-pong"), Panels: []plot.Panel{rate}}
	if len(lat.Series) > 0 {
		out.Panels = append(out.Panels, lat)
	}
	return out
}

func transportName(m *Measurement) string {
	switch {
	case m.Tool == "ib_write_bw":
		return m.Tool
	case m.Transport == topology.OverRDMA:
		return "RDMA"
	}
	return "TCP"
}
