package doctor

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"thundercollective/bench"
	"thundercollective/plot"
	"thundercollective/topology"
)

//go:embed manifest.html
var manifestPage string

// WriteHTML writes the launch manifest as one self-contained HTML file, with the
// picture of the cabling and the measured curves.
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

// image makes an SVG part of the page. As an image of its own its styles and the
// page's do not meet.
func image(draw func(io.Writer) error) (template.URL, error) {
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		return "", err
	}
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), nil
}

// charts draws bandwidth and latency over message size, a line a cable.
func (r *Report) charts() []*plot.Chart {
	size := plot.Axis{Label: "message size", Base: 2, Format: bench.FormatSize}
	rate := plot.Panel{Title: "Bandwidth, GB/s one way", X: size, Y: plot.Axis{Label: "GB/s"}}
	lat := plot.Panel{Title: "Time one way, median", X: size, Y: plot.Axis{Label: "µs", Base: 10}}
	for i := range r.Measurements {
		m := &r.Measurements[i]
		if len(m.Rows) < 2 {
			continue
		}
		c := &r.Graph.Cables[m.Cable]
		name := fmt.Sprintf("%s %s–%s", transportName(m), c.A.Host, c.B.Host)
		if c.A.Port > 0 && len(r.Graph.Between(c.A.Machine, c.B.Machine)) > 1 {
			name += fmt.Sprintf(" (%d–%d)", c.A.Port, c.B.Port)
		}
		s, l := plot.Series{Name: name}, plot.Series{Name: name}
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
	c := &plot.Chart{Title: "Measured over the cables", Subtitle: "ping-pong, one rank at either end", Panels: []plot.Panel{rate}}
	if len(lat.Series) > 0 {
		c.Panels = append(c.Panels, lat)
	}
	return []*plot.Chart{c}
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
