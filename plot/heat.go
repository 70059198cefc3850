package plot

import (
	"fmt"
	"io"
	"math"
)

// A HeatMap is one or more square tables side by side, each with cells coloured
// by value.
type HeatMap struct {
	Title    string
	Subtitle string
	Tables   []HeatTable
}

// A HeatTable has a row and a column for each name. Cells[i][j] belongs to row
// i, column j; a NaN leaves the cell empty.
type HeatTable struct {
	Title    string
	Row, Col string   // what rows and columns are, such as "from" and "to"
	Names    []string // of the rows and of the columns
	Cells    [][]float64
	Format   func(float64) string // of a cell's value; nil for a plain number
}

// The layout, in pixels.
const (
	cellWidth   = 62.0
	cellHeight  = 38.0
	heatLeft    = 70.0
	heatTop     = 142.0
	heatPadding = 30.0
)

// WriteSVG draws the tables.
func (h *HeatMap) WriteSVG(w io.Writer) error {
	width, height := 24.0, 0.0
	for _, t := range h.Tables {
		if len(t.Cells) != len(t.Names) {
			return fmt.Errorf("plot %q: table %q has %d rows for %d names", h.Title, t.Title, len(t.Cells), len(t.Names))
		}
		for i, row := range t.Cells {
			if len(row) != len(t.Names) {
				return fmt.Errorf("plot %q: table %q has %d cells in row %d, not %d", h.Title, t.Title, len(row), i, len(t.Names))
			}
		}
		width += t.width()
		height = max(height, cellHeight*float64(len(t.Names)))
	}
	out := newCanvas(w, max(width, 480), heatTop+height+heatPadding, h.Title)
	out.text("title", "start", 24, 36, h.Title)
	out.text("sub", "start", 24, 58, h.Subtitle)
	left := 0.0
	for i, t := range h.Tables {
		t.draw(out, left+heatLeft, heatTop, i)
		left += t.width()
	}
	return out.close()
}

func (t HeatTable) width() float64 {
	// A title needs its room even above a narrow table.
	return heatLeft + max(cellWidth*float64(len(t.Names)), 150) + heatPadding
}

func (t HeatTable) draw(out *canvas, left, top float64, colour int) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, row := range t.Cells {
		for _, v := range row {
			if !math.IsNaN(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	format := Axis{Format: t.Format}.format
	out.text("head", "start", left, top-46, t.Title)
	out.text("tick", "start", left, top-24, t.Col+" →")
	out.text("tick", "end", left-10, top-8, t.Row+" ↓")
	for i, name := range t.Names {
		out.text("tick", "middle", left+cellWidth*(float64(i)+0.5), top-8, name)
		out.text("tick", "end", left-10, top+cellHeight*(float64(i)+0.5)+4, name)
		for j, v := range t.Cells[i] {
			x, y := left+cellWidth*float64(j), top+cellHeight*float64(i)
			if math.IsNaN(v) {
				out.put(`<rect class="cell" fill="var(--grid)" x="%.1f" y="%.1f" width="%g" height="%g" rx="5"/>`, x, y, cellWidth, cellHeight)
				continue
			}
			part := 0.5
			if hi > lo {
				part = (v - lo) / (hi - lo)
			}
			class := "val"
			if part > 0.6 {
				class = "val on"
			}
			out.put(`<rect class="cell" fill="var(--h%d)" fill-opacity="%.2f" x="%.1f" y="%.1f" width="%g" height="%g" rx="5"/>`,
				colour%maxHeats, 0.14+0.86*part, x, y, cellWidth, cellHeight)
			out.text(class, "middle", x+cellWidth/2, y+cellHeight/2+4, format(v))
		}
	}
}
