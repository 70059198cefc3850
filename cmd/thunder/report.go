package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	thunder "thundercollective"
	"thundercollective/internal/bench"
)

// A report prints the rows of a benchmark as they arrive, and a summary at the end.
type report struct {
	cfg   bench.Config
	ranks int
	where string // description of the ranks, for people
	json  bool
	svg   string // file to draw to, "" for none

	out   io.Writer
	table *bench.Table
	line  *progress
	rows  []bench.Row
	err   error // the first write error
}

// begin prints the lines before the first row.
func (r *report) begin(out, status io.Writer) {
	r.out = out
	r.table = &bench.Table{W: out, Color: bench.Color(colourful(out)), Width: terminalWidth(out)}
	r.line = newProgress(status)
	r.next()
}

// about returns the lines that describe the run.
func (r *report) about() []string {
	c := r.cfg
	name, streams := c.Fabric, c.Streams
	if len(r.rows) > 0 {
		name, streams = r.rows[0].Fabric, r.rows[0].Streams
	}
	fabric := "fabric " + name
	if strings.Contains(name, "tcp") && streams > 0 {
		fabric += fmt.Sprintf(", streams %d", streams)
	}
	if c.Fabric == "auto" && name != "auto" {
		fabric += " (auto)"
	}
	check := r.checks()
	parts := []string{r.where, fabric, "algo " + c.Algo.String(), "kernels " + thunder.Kernels(), check}
	if c.Mode == bench.Matrix { // single messages
		parts = []string{r.where, fabric, check}
	}
	if r.ranks == 1 {
		parts = []string{r.where, "alone: it sends nothing, so nothing is measured", check}
	}
	return []string{
		fmt.Sprintf("thunder bench %s: %s", c.Mode, c.Mode.About()),
		strings.Join(parts, " · "),
		fmt.Sprintf("%s · %d cores · %s/%s · %s", bench.CPU(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version()),
	}
}

// checks describes which results are checked: their exact number once all rows are there.
// The table ends with it.
func (r *report) checks() string {
	if r.cfg.Check == bench.CheckNone {
		return "results not checked"
	}
	if r.cfg.Mode == bench.Matrix {
		return "last message of each series checked"
	}
	if len(r.rows) < r.cfg.Rows(r.ranks) {
		if r.cfg.Check == bench.CheckEnds {
			return "first and last results checked"
		}
		return "results checked"
	}
	checked, iters := 0, 0
	for _, row := range r.rows {
		checked, iters = checked+row.Checked, iters+row.Iters
	}
	if checked == iters {
		return fmt.Sprintf("all %d results checked", iters)
	}
	return fmt.Sprintf("%d of %d results checked", checked, iters)
}

// next shows on the progress line what is measured next.
func (r *report) next() {
	done := 0
	for _, row := range r.rows {
		if row.Rail == nil { // single rails come with their pair
			done++
		}
	}
	if total := r.cfg.Rows(r.ranks); done < total {
		r.line.set(fmt.Sprintf("measuring %d of %d", done+1, total))
	} else {
		r.line.set("")
	}
}

// add prints a row.
func (r *report) add(row bench.Row) {
	r.rows = append(r.rows, row)
	err := r.line.print(func() error {
		switch {
		case r.json:
			return row.WriteJSON(r.out)
		case r.cfg.Mode == bench.Matrix:
			return nil // the table needs all rows
		case len(r.rows) == 1: // the fabric is not known before
			if err := r.table.Header(r.about()); err != nil {
				return err
			}
		}
		return r.table.Row(row)
	})
	if r.err == nil {
		r.err = err
	}
	r.next()
}

// end prints the lines after the last row. It returns the first write error, or an error if
// results are wrong.
func (r *report) end() error {
	r.line.close()
	if !r.json && r.err == nil {
		if r.cfg.Mode == bench.Matrix {
			r.err = r.table.Matrix(r.about(), r.rows)
		}
		if r.err == nil {
			r.err = r.table.Footer()
		}
		if r.err == nil {
			_, r.err = io.WriteString(r.out, explanation(r.rows))
		}
	}
	if r.err != nil {
		return fmt.Errorf("write the results: %w", r.err)
	}
	if r.svg != "" {
		if err := r.draw(); err != nil {
			return err
		}
	}
	return wrongError(r.rows)
}

// drawable returns a usage error if the results of a run cannot be drawn.
func drawable(svg string, cfg bench.Config, ranks int) error {
	switch {
	case svg == "":
		return nil
	case ranks == 1:
		return usagef("--svg: a rank alone measures nothing, so there is nothing to draw; omit it, or use more ranks")
	case cfg.Mode == bench.Barrier:
		return usagef("--svg: a barrier has no sizes, so there is no curve to draw; omit it: the result is a single row")
	case cfg.Mode != bench.Matrix && cfg.Max == 0:
		return usagef("--svg: only messages without content are measured, so there is no curve to draw; use a larger --max or --size")
	}
	return nil
}

func (r *report) draw() error {
	title := fmt.Sprintf("thunder bench %s", r.cfg.Mode)
	about := r.about()[1]
	if r.cfg.Mode == bench.Matrix {
		return writeSVG(r.svg, bench.Heat(title, about, r.rows))
	}
	kind := r.cfg.DType.String()
	if r.cfg.Mode.Reduces() {
		kind += " " + r.cfg.Op.String()
	}
	return writeSVG(r.svg, bench.Chart(title+" · "+kind, about, bench.Line{Rows: r.rows}))
}

// writeSVG draws a picture to a file.
func writeSVG(path string, picture interface{ WriteSVG(io.Writer) error }) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("draw the picture: %w", err)
	}
	if err := picture.WriteSVG(f); err != nil {
		f.Close()
		return fmt.Errorf("draw %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("draw %s: %w", path, err)
	}
	return nil
}

// wrongError returns an error if rows have wrong results.
func wrongError(rows []bench.Row) error {
	var bad int
	var wrong int64
	for _, row := range rows {
		if row.Bad() {
			bad++
			wrong += *row.Wrong
		}
	}
	if bad == 0 {
		return nil
	}
	return fmt.Errorf("%d elements are wrong, in %d of %d rows; do not use this fabric; "+
		"run again with a different --algo and with THUNDER_KERNELS=go to find the cause", wrong, bad, len(rows))
}
