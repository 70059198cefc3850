package plot

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// A canvas writes SVG elements. It keeps the first write error for close to return, so that
// drawing code need not check every call.
type canvas struct {
	w *bufio.Writer
}

// style is shared by all pictures. The line colours come from a palette for colour-blind
// readers and are lighter on a dark background.
const style = `
svg{--bg:#ffffff;--ink:#1b1f24;--cell:#000000;--soft:#626b76;--grid:#e6e9ed;--axis:#aab2bc;
--c0:#0067b1;--c1:#d1590a;--c2:#00875f;--c3:#b0428a;--c4:#8a6d00;--c5:#4f5bd5;--h0:#0067b1;--h1:#a23a7e;--h2:#006f4d}
@media (prefers-color-scheme:dark){svg{--bg:#14181d;--ink:#e8ebef;--cell:#ffffff;--soft:#98a3b0;--grid:#262c34;--axis:#4b5562;
--c0:#4fb3ff;--c1:#ff9a4d;--c2:#35d0a0;--c3:#f08cc8;--c4:#e6c34a;--c5:#9aa5ff}}
text{font:12px system-ui,-apple-system,"Segoe UI","Liberation Sans",sans-serif;fill:var(--ink)}
.bg{fill:var(--bg)}.title{font-size:18px;font-weight:600}.sub{font-size:13px;fill:var(--soft)}
.head{font-size:14px;font-weight:600}.tick{font-size:11px;fill:var(--soft);font-variant-numeric:tabular-nums}
.grid{stroke:var(--grid)}.axis{stroke:var(--axis);fill:none}
.line{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}.band{opacity:.16;stroke:none}
.cell{stroke:var(--bg);stroke-width:2}.part{stroke-width:1}.val{font-size:11px;font-variant-numeric:tabular-nums;fill:var(--cell)}.on{fill:#ffffff}
`

// The numbers of colours for lines and for tables; further ones repeat them. The colours of
// tables are the same on a dark background because white text is drawn on them.
const (
	maxSeries = 6
	maxHeats  = 3
)

func newCanvas(w io.Writer, width, height float64, title string) *canvas {
	c := &canvas{bufio.NewWriter(w)}
	c.put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" aria-label="%s">`,
		width, height, width, height, escape(title))
	c.put("<title>%s</title><style>%s</style>", escape(title), style)
	c.put(`<rect class="bg" width="%g" height="%g" rx="10"/>`, width, height)
	return c
}

func (c *canvas) put(format string, args ...any) {
	fmt.Fprintf(c.w, format+"\n", args...)
}

// text writes s with its baseline at (x, y). anchor is "start", "middle" or "end".
func (c *canvas) text(class, anchor string, x, y float64, s string) {
	c.put(`<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, class, x, y, anchor, escape(s))
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.put(`<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

func (c *canvas) close() error {
	c.put("</svg>")
	return c.w.Flush()
}

// A point is a position on the canvas.
type point struct{ x, y float64 }

// path returns path data that connects the points by straight lines.
func path(points []point) string {
	var b strings.Builder
	for i, p := range points {
		verb := 'L'
		if i == 0 {
			verb = 'M'
		}
		fmt.Fprintf(&b, "%c%.1f %.1f", verb, p.x, p.y)
	}
	return b.String()
}

func escape(s string) string {
	var b strings.Builder
	// A strings.Builder never fails to write.
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
