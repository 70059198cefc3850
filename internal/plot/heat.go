package plot

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// A HeatMap is one or more square tables, two side by side. Each cell is coloured by its
// value, from zero to the largest value of the table, and a scale is drawn below each
// table.
type HeatMap struct {
	Title    string
	Subtitle string
	Note     string // how to read it
	Tables   []HeatTable
}

// A HeatTable has a row and a column for each name. Cells[i][j] is the value in row i,
// column j; NaN leaves the cell empty.
type HeatTable struct {
	Title    string
	Row, Col string   // what rows and columns stand for, such as "from" and "to"
	Names    []string // names of both the rows and the columns
	Cells    [][]float64
	// Parts, if not nil, holds further values of each cell, such as those of the rails of a
	// pair. They are drawn below the cell: Parts[i][j] belongs to row i, column j. NaN
	// marks a part that is down.
	Parts  [][][]float64
	Hue    int                  // selects the colour; tables of the same quantity share one
	Format func(float64) string // formats a cell's value; nil for a plain number
}

// The layout, in pixels.
const (
	cellWidth   = 56.0
	cellHeight  = 34.0
	partHeight  = 19.0
	heatLeft    = 70.0
	heatHead    = 62.0 // above the cells of a table
	heatFoot    = 58.0 // below them, with the scale
	heatPadding = 30.0
	heatAcross  = 2 // tables side by side
	scaleSteps  = 6
	scaleStep   = 22.0
	// charWidth is the approximate width of a character of the subtitle and the note.
	charWidth = 6.5
)

// WriteSVG draws the tables.
func (h *HeatMap) WriteSVG(w io.Writer) error {
	var across, down []float64 // widths of the columns and heights of the rows of tables
	for i, t := range h.Tables {
		if err := t.check(); err != nil {
			return fmt.Errorf("plot %q: %w", h.Title, err)
		}
		if i < heatAcross {
			across = append(across, 0)
		}
		if i%heatAcross == 0 {
			down = append(down, 0)
		}
		across[i%heatAcross] = max(across[i%heatAcross], t.width())
		down[i/heatAcross] = max(down[i/heatAcross], t.height())
	}
	width := 24.0
	for _, x := range across {
		width += x
	}
	width = max(width, 560)
	sub, note := wrap(h.Subtitle, width-48), wrap(h.Note, width-48)
	top := 54.0 + 18*float64(len(sub)+len(note))
	height := top + heatPadding/2
	for _, y := range down {
		height += y
	}
	out := newCanvas(w, width, height, h.Title)
	out.text("title", "start", 24, 36, h.Title)
	for i, line := range append(sub, note...) {
		out.text("sub", "start", 24, 58+18*float64(i), line)
	}
	x, y := 0.0, top
	for i, t := range h.Tables {
		t.draw(out, x+heatLeft, y+heatHead)
		x += across[i%heatAcross]
		if i%heatAcross == heatAcross-1 {
			x, y = 0, y+down[i/heatAcross]
		}
	}
	return out.close()
}

// wrap breaks text into lines that fit the width.
func wrap(text string, width float64) []string {
	var lines []string
	used := 0.0
	for word := range strings.FieldsSeq(text) {
		w := charWidth * float64(len([]rune(word))+1)
		if len(lines) == 0 || used+w > width {
			lines, used = append(lines, word), w
			continue
		}
		lines[len(lines)-1] += " " + word
		used += w
	}
	return lines
}

func (t *HeatTable) check() error {
	n := len(t.Names)
	if len(t.Cells) != n || t.Parts != nil && len(t.Parts) != n {
		return fmt.Errorf("table %q has %d rows of cells and %d rows of parts, but %d names", t.Title, len(t.Cells), len(t.Parts), n)
	}
	for i, row := range t.Cells {
		if len(row) != n || t.Parts != nil && len(t.Parts[i]) != n {
			return fmt.Errorf("table %q: row %d does not have %d cells", t.Title, i, n)
		}
	}
	return nil
}

func (t *HeatTable) width() float64 {
	// Leave room for the title and the scale even if the table is narrow.
	return heatLeft + max(cellWidth*float64(len(t.Names)), scaleSteps*scaleStep+90) + heatPadding
}

func (t *HeatTable) height() float64 {
	return heatHead + t.rowHeight()*float64(len(t.Names)) + heatFoot
}

// rowHeight returns the height of a row: room for a cell and the largest number of parts
// that any cell has.
func (t *HeatTable) rowHeight() float64 {
	most := 0
	for _, row := range t.Parts {
		for _, parts := range row {
			most = max(most, len(parts))
		}
	}
	if most == 0 {
		return cellHeight
	}
	return cellHeight + partHeight*float64(most) + 6 // 6: distance to the next row
}

// largest returns the value that is drawn in the full colour.
func (t *HeatTable) largest() float64 {
	hi := 0.0
	note := func(v float64) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			hi = max(hi, v)
		}
	}
	for i, row := range t.Cells {
		for j, v := range row {
			note(v)
			for _, p := range t.parts(i, j) {
				note(p)
			}
		}
	}
	return hi
}

func (t *HeatTable) parts(i, j int) []float64 {
	if t.Parts == nil {
		return nil
	}
	return t.Parts[i][j]
}

func (t *HeatTable) draw(out *canvas, left, top float64) {
	hi, format, hue := t.largest(), Axis{Format: t.Format}.format, t.Hue%maxHeats
	rowHeight := t.rowHeight()
	out.text("head", "start", left, top-42, t.Title)
	out.text("tick", "start", left, top-22, t.Col+" →")
	out.text("tick", "end", left-10, top-8, t.Row+" ↓")
	for i, name := range t.Names {
		y := top + rowHeight*float64(i)
		out.text("tick", "middle", left+cellWidth*(float64(i)+0.5), top-8, name)
		out.text("tick", "end", left-10, y+cellHeight/2+4, name)
		for j, v := range t.Cells[i] {
			box := heatBox{out: out, hue: hue, hi: hi, x: left + cellWidth*float64(j), y: y, height: cellHeight}
			box.draw(v, "", format)
			for _, p := range t.parts(i, j) {
				box.y, box.height = box.y+box.height, partHeight
				box.draw(p, "down", format)
			}
		}
	}
	y := top + rowHeight*float64(len(t.Names)) + 16
	out.text("tick", "end", left-10, y+12, "0")
	for s := range scaleSteps {
		out.put(`<rect fill="var(--h%d)" fill-opacity="%.2f" x="%.1f" y="%.1f" width="%g" height="16"/>`,
			hue, depth(float64(s)/(scaleSteps-1)), left+scaleStep*float64(s), y, scaleStep)
	}
	out.text("tick", "start", left+scaleStep*scaleSteps+8, y+12, format(hi))
}

// A heatBox is a rectangle for one value.
type heatBox struct {
	out          *canvas
	hue          int
	hi           float64
	x, y, height float64
}

// draw fills the box with the colour of its value; without a value, the box stays grey and
// shows a word.
func (b heatBox) draw(v float64, empty string, format func(float64) string) {
	class := "cell"
	if b.height < cellHeight {
		class = "cell part"
	}
	middle, baseline := b.x+cellWidth/2, b.y+b.height/2+4
	if math.IsNaN(v) {
		b.out.put(`<rect class="%s" fill="var(--grid)" x="%.1f" y="%.1f" width="%g" height="%g" rx="4"/>`, class, b.x, b.y, cellWidth, b.height)
		if empty != "" {
			b.out.text("tick", "middle", middle, baseline, empty)
		}
		return
	}
	part := 0.0
	if b.hi > 0 {
		part = min(max(v/b.hi, 0), 1)
	}
	text := "val"
	if depth(part) > whiteFrom {
		text = "val on"
	}
	b.out.put(`<rect class="%s" fill="var(--h%d)" fill-opacity="%.2f" x="%.1f" y="%.1f" width="%g" height="%g" rx="4"/>`,
		class, b.hue, depth(part), b.x, b.y, cellWidth, b.height)
	b.out.text(text, "middle", middle, baseline, format(v))
}

// depth returns the opacity of a cell whose value is the given fraction of the largest.
func depth(part float64) float64 { return 0.08 + 0.92*part }

// whiteFrom is the depth from which white text is easier to read than black text on a light
// background.
const whiteFrom = 0.87
