package plot

import (
	"fmt"
	"io"
	"slices"
)

// A Chart is one or more panels side by side under a common title.
type Chart struct {
	Title    string
	Subtitle string
	Panels   []Panel
}

// A Panel draws series over a pair of axes.
type Panel struct {
	Title  string
	X, Y   Axis
	Series []Series
}

// A Series is a line through the points (X[i], Y[i]), in order. Points that an axis cannot
// show are omitted.
type Series struct {
	Name string
	X, Y []float64
	// Low and High, if not nil, bound a shaded band around the line, one pair for each
	// point.
	Low, High []float64
}

// The layout, in pixels.
const (
	panelWidth  = 430.0 // of the area between the axes
	panelHeight = 270.0
	leftMargin  = 74.0
	rightMargin = 26.0
	topMargin   = 118.0
	lowMargin   = 62.0
)

// WriteSVG draws the chart.
func (c *Chart) WriteSVG(w io.Writer) error {
	for _, p := range c.Panels {
		if err := p.validate(); err != nil {
			return fmt.Errorf("plot %q: %w", c.Title, err)
		}
	}
	column := leftMargin + panelWidth + rightMargin
	out := newCanvas(w, column*float64(max(1, len(c.Panels))), topMargin+panelHeight+lowMargin, c.Title)
	out.text("title", "start", 24, 36, c.Title)
	out.text("sub", "start", 24, 58, c.Subtitle)
	for i, p := range c.Panels {
		p.draw(out, leftMargin+column*float64(i), topMargin)
	}
	return out.close()
}

func (p Panel) validate() error {
	for _, s := range p.Series {
		n := len(s.X)
		if len(s.Y) != n || (s.Low != nil && len(s.Low) != n) || len(s.Low) != len(s.High) {
			return fmt.Errorf("series %q has %d x, %d y, %d low and %d high values", s.Name, n, len(s.Y), len(s.Low), len(s.High))
		}
	}
	return nil
}

// draw draws the panel. (left, top) is the top left corner of the area between the axes.
func (p Panel) draw(out *canvas, left, top float64) {
	var xs, ys []float64
	for _, s := range p.Series {
		for i := range s.X {
			if p.X.shows(s.X[i]) && p.Y.shows(s.Y[i]) {
				xs, ys = append(xs, s.X[i]), append(ys, s.Y[i])
				if s.Low != nil {
					ys = append(ys, s.Low[i], s.High[i])
				}
			}
		}
	}
	x, y := p.X.span(xs), p.Y.span(ys)
	at := func(vx, vy float64) point {
		return point{left + panelWidth*x.part(vx), top + panelHeight*(1-y.part(vy))}
	}
	bottom, right := top+panelHeight, left+panelWidth

	out.text("head", "start", left, top-16, p.Title)
	for _, t := range y.ticks {
		ty := bottom - panelHeight*y.place(t.at)
		out.line("grid", left, ty, right, ty)
		if t.label != "" {
			out.text("tick", "end", left-8, ty+4, t.label)
		}
	}
	for _, t := range x.ticks {
		tx := left + panelWidth*x.place(t.at)
		out.line("grid", tx, top, tx, bottom)
		if t.label != "" {
			out.text("tick", "middle", tx, bottom+18, t.label)
		}
	}
	out.put(`<path class="axis" d="%s"/>`, path([]point{{left, top}, {left, bottom}, {right, bottom}}))
	out.text("tick", "middle", left+panelWidth/2, bottom+40, p.X.Label)
	if len(xs) == 0 {
		out.text("sub", "middle", left+panelWidth/2, top+panelHeight/2, "nothing to show")
		return
	}
	for i, s := range p.Series {
		p.drawSeries(out, i, s, at)
	}
	p.drawLegend(out, left, right, top)
}

func (p Panel) drawSeries(out *canvas, i int, s Series, at func(x, y float64) point) {
	var line, low, high []point
	for k := range s.X {
		if !p.X.shows(s.X[k]) || !p.Y.shows(s.Y[k]) {
			continue
		}
		line = append(line, at(s.X[k], s.Y[k]))
		if s.Low != nil && p.Y.shows(s.Low[k]) && p.Y.shows(s.High[k]) {
			low = append(low, at(s.X[k], s.Low[k]))
			high = append(high, at(s.X[k], s.High[k]))
		}
	}
	colour := fmt.Sprintf("var(--c%d)", i%maxSeries)
	if len(low) > 1 {
		slices.Reverse(low)
		out.put(`<path class="band" fill="%s" d="%sZ"/>`, colour, path(append(high, low...)))
	}
	out.put(`<path class="line" stroke="%s" d="%s"/>`, colour, path(line))
	for _, q := range line {
		out.put(`<circle cx="%.1f" cy="%.1f" r="2.6" fill="%s"/>`, q.x, q.y, colour)
	}
}

// drawLegend names the series: right-aligned in the title's line or, if they do not fit
// there, one below the other in the upper left corner, where rising lines leave room.
func (p Panel) drawLegend(out *canvas, left, right, top float64) {
	// The width of a letter is a generous guess.
	const perLetter, swatch, gap, row = 7.5, 18.0, 6.0, 17.0
	width := func(s string) float64 { return perLetter * float64(len([]rune(s))) }
	total := width(p.Title)
	for _, s := range p.Series {
		if s.Name != "" {
			total += width(s.Name) + swatch + 3*gap
		}
	}
	name := func(i int, x, y float64) {
		out.put(`<line stroke="var(--c%d)" stroke-width="3" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`,
			i%maxSeries, x, y-4, x+swatch, y-4)
		out.text("tick", "start", x+swatch+gap, y, p.Series[i].Name)
	}
	if total > right-left {
		y := top + row
		for i, s := range p.Series {
			if s.Name != "" {
				name(i, left+2*gap, y)
				y += row
			}
		}
		return
	}
	for i := len(p.Series) - 1; i >= 0; i-- {
		if s := p.Series[i]; s.Name != "" {
			x := right - width(s.Name) - gap - swatch
			name(i, x, top-16)
			right = x - 2*gap
		}
	}
}
