package inspect

import (
	"fmt"
	"html/template"
	"io"
	"time"

	"thundercollective/internal/recorder"
)

// shown is how many operations of each rank the picture shows; the trace has all of them.
const shown = 200

// Sizes of the picture, in pixels.
const (
	pictureWidth = 1200
	labelWidth   = 140
	rowHeight    = 26
)

// A bar is one operation in the picture. The bars of messages are thin and in front of
// those of collectives.
type bar struct {
	X, Y, Width, Height float64
	Class, Text         string
}

const (
	barHeight     = 20
	messageHeight = 6
)

// A label is the name of a row, or a time on the axis.
type label struct {
	X, Y float64
	Text string
	// Anchor is the part of the text that is at X: start, middle or end.
	Anchor string
}

// WriteTimeline writes an HTML page with the verdict, the table, and a picture of the
// latest operations. The page loads nothing from the network.
func (r *Report) WriteTimeline(w io.Writer) error {
	var bars []bar
	var rows, axis []label
	from, to := r.window()
	scale := float64(pictureWidth-labelWidth-20) / max(float64(to.Sub(from)), 1)
	y := 0.0
	for rank := range r.Size {
		d := r.byRank[rank]
		if d == nil {
			rows = append(rows, label{0, y, fmt.Sprintf("rank %d: no dump", rank), "start"})
			y += rowHeight
			continue
		}
		rows = append(rows, label{0, y, fmt.Sprintf("rank %d %s", rank, d.Host), "start"})
		for _, g := range d.Groups {
			for i, ops := range histories(&g) {
				height := float64(barHeight)
				if i > 0 {
					height = messageHeight
				}
				for _, o := range ops[max(0, len(ops)-shown):] {
					at := o.Begin.Add(r.shift[rank])
					if at.Before(from) {
						continue
					}
					bars = append(bars, bar{
						X: labelWidth + float64(at.Sub(from))*scale, Y: y + 3, Width: max(float64(o.Took)*scale, 1), Height: height, Class: o.State,
						Text: fmt.Sprintf("#%d %s, group %d: %s, %v", o.Seq, o.Call, g.ID, o.State, round(o.Took)),
					})
				}
			}
		}
		y += rowHeight
	}
	const ticks = 6
	for i := range ticks {
		part := to.Sub(from) * time.Duration(i) / (ticks - 1)
		anchor := "middle"
		switch i {
		case 0:
			anchor = "start"
		case ticks - 1:
			anchor = "end" // within the picture
		}
		axis = append(axis, label{labelWidth + float64(part)*scale, y + 16, "+" + round(part).String(), anchor})
	}
	return page.Execute(w, map[string]any{
		"Report": r, "Bars": bars, "Rows": rows, "Axis": axis, "Width": pictureWidth, "Height": y + 30, "From": from.UTC().Format(time.RFC3339Nano),
	})
}

// histories returns the collectives of a group, followed by the messages of each pair.
func histories(g *recorder.Group) [][]recorder.Operation {
	all := [][]recorder.Operation{g.Operations}
	for _, p := range g.Pairs {
		all = append(all, p.Operations)
	}
	return all
}

// window returns the time that the picture shows.
func (r *Report) window() (from, to time.Time) {
	for rank, d := range r.byRank {
		for _, g := range d.Groups {
			for _, ops := range histories(&g) {
				n := len(ops)
				if n == 0 {
					continue
				}
				first := ops[max(0, n-shown)]
				if at := first.Begin.Add(r.shift[rank]); from.IsZero() || at.Before(from) {
					from = at
				}
				// The operation that ends last need not be the one that began last.
				for _, o := range ops[max(0, n-shown):] {
					if at := o.Begin.Add(r.shift[rank]).Add(o.Took); at.After(to) {
						to = at
					}
				}
			}
		}
	}
	return from, to
}

var page = template.Must(template.New("page").Funcs(template.FuncMap{"round": round, "down": func(y float64) float64 { return y + 17 }}).Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>flight recorder</title><style>
body{font:14px system-ui,sans-serif;margin:2em;color:#222;background:#fff}
.verdict{font-size:18px;padding:.6em .8em;border-left:5px solid #c33;background:#fdf3f3}
.verdict.ok{border-color:#393;background:#f3fbf3}
table{border-collapse:collapse;margin:1em 0}td,th{padding:.25em .8em;text-align:left;border-bottom:1px solid #ddd}
svg text{font:12px system-ui,sans-serif;fill:#222}
.done{fill:#4a86c5}.running{fill:#e0a030}.failed{fill:#c33}
</style></head><body>
<p class="verdict{{if .Report.Healthy}} ok{{end}}">{{.Report.Verdict}}</p>
<table><tr><th>rank<th>host<th>last<th>call<th>state<th>for<th>typically late by<th>incomplete<th>error</tr>
{{range .Report.Ranks}}<tr><td>{{.Rank}}<td>{{.Host}}<td>#{{.Seq}}<td>{{.Call}}<td>{{.State}}<td>{{round .Took}}<td>{{round .Late}}<td>{{range .Waits}}{{.}}<br>{{end}}<td>{{.Failure}}</tr>
{{end}}</table>
<p>The latest operations, from {{.From}}: <span style="color:#4a86c5">done</span>, <span style="color:#e0a030">running</span>, <span style="color:#c33">failed</span>.</p>
<svg viewBox="0 0 {{.Width}} {{.Height}}" style="width:100%;max-width:{{.Width}}px" role="img">
{{range .Rows}}<text x="{{.X}}" y="{{down .Y}}">{{.Text}}</text>
{{end}}{{range .Bars}}<rect class="{{.Class}}" x="{{.X}}" y="{{.Y}}" width="{{.Width}}" height="{{.Height}}"><title>{{.Text}}</title></rect>
{{end}}{{range .Axis}}<text x="{{.X}}" y="{{.Y}}" text-anchor="{{.Anchor}}">{{.Text}}</text>
{{end}}</svg></body></html>
`))
