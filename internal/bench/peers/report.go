package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"thundercollective/internal/bench"
	"thundercollective/internal/bench/trial"
	"thundercollective/internal/plot"
)

// writeTables writes all measurements as Markdown.
func writeTables(path string, s *settings, r *results) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Side by side\n\n")
	fmt.Fprintf(&b, "Measured %s on %s, %d cores, %s/%s, by `make bench-peers` with %d rounds;\nsizes below %s ran %d times in each round, except with Gloo and MLX.\n",
		r.started.UTC().Format("2006-01-02"), bench.CPU(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, s.rounds, bench.FormatSize(longFrom), s.starts)
	b.WriteString(`
Float32, sum, in place if possible, in buffers that had been written to. Times are in
microseconds: an iteration counts with the mean over its ranks, a run with the median over
its iterations, and the table shows the median over the runs. Iterations follow each other
immediately, except in broadcasts: there a barrier, which is not timed, precedes each
iteration, since the root would run ahead otherwise. All contenders took turns. The number
after a time is that time divided by ours: above 1 we are faster; where we are slower it is
marked 🔴.
`)
	for _, c := range r.cases {
		table(&b, s, c, r)
	}
	pings(&b, r)
	if len(r.troubles) > 0 {
		b.WriteString("\n## What did not run\n\n")
		for _, t := range r.troubles {
			fmt.Fprintf(&b, "- %s\n", t)
		}
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("peers: %w", err)
	}
	return nil
}

// table writes one case: a row for each size, a column for each contender.
func table(b *strings.Builder, s *settings, c benchCase, r *results) {
	var others []string
	for _, name := range r.names {
		if name != ours && r.has(c, name) {
			others = append(others, name)
		}
	}
	fmt.Fprintf(b, "\n## %s\n\n![%s](peers-%s.svg)\n\n| size | %s |", c, c, c.file(), ours)
	for _, name := range others {
		fmt.Fprintf(b, " %s |", name)
	}
	fmt.Fprintf(b, "\n|---:|---:|%s\n", strings.Repeat("---:|", len(others)))
	for _, size := range s.sizes {
		mine := r.at(c, ours, size)
		fmt.Fprintf(b, "| %s | %s |", bench.FormatSize(float64(size)), micros(mine))
		for _, name := range others {
			t := r.at(c, name, size)
			switch {
			case t == 0 || mine == 0:
				b.WriteString(" – |")
			case name == oursAlloc || name == limitName:
				fmt.Fprintf(b, " %s |", micros(t))
			case t < mine:
				fmt.Fprintf(b, " %s · 🔴 **%.2f** |", micros(t), t/mine)
			default:
				fmt.Fprintf(b, " %s · %.2f |", micros(t), t/mine)
			}
		}
		b.WriteString("\n")
	}
	if r.has(c, oursAlloc) {
		allocTable(b, s, c, r)
	}
}

// allocTable compares buffers of Comm.Alloc with the limit and with Open MPI.
func allocTable(b *strings.Builder, s *settings, c benchCase, r *results) {
	fmt.Fprintf(b, "\n| size | %s | its time over the limit's | Open MPI's over ours |\n|---:|---:|---:|---:|\n", oursAlloc)
	for _, size := range s.sizes {
		mine := r.at(c, oursAlloc, size)
		fmt.Fprintf(b, "| %s | %s |", bench.FormatSize(float64(size)), micros(mine))
		for _, v := range []float64{ratio(mine, r.at(c, limitName, size)), ratio(r.at(c, "Open MPI", size), mine)} {
			if v == 0 {
				b.WriteString(" – |")
			} else {
				fmt.Fprintf(b, " %.2f |", v)
			}
		}
		b.WriteString("\n")
	}
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// pings writes the throughput of each way to move bytes.
func pings(b *strings.Builder, r *results) {
	b.WriteString("\n## Moving bytes over loopback TCP\n\n| way | GB/s |\n|---|---:|\n")
	values := map[string][]float64{}
	var names []string
	for _, p := range r.pings {
		if values[p.name] == nil {
			names = append(names, p.name)
		}
		values[p.name] = append(values[p.name], p.gbps)
	}
	for _, name := range names {
		fmt.Fprintf(b, "| %s | %.2f |\n", name, trial.Median(values[name]))
	}
}

// micros formats a time with three significant digits.
func micros(v float64) string {
	switch {
	case v == 0:
		return "–"
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// writePlot draws one case.
func writePlot(path string, s *settings, c benchCase, r *results) error {
	panel := plot.Panel{
		Title: "time of one operation, median",
		X:     plot.Axis{Label: "size", Base: 2, Format: bench.FormatSize},
		Y:     plot.Axis{Base: 10, Format: bench.FormatMicros},
	}
	for _, name := range r.names {
		line := plot.Series{Name: name}
		for _, size := range s.sizes {
			if t := r.at(c, name, size); t > 0 {
				line.X, line.Y = append(line.X, float64(size)), append(line.Y, t)
			}
		}
		if len(line.X) > 0 {
			panel.Series = append(panel.Series, line)
		}
	}
	chart := plot.Chart{Title: c.String(), Subtitle: "float32; lower is better", Panels: []plot.Panel{panel}}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("peers: %w", err)
	}
	if err := chart.WriteSVG(f); err != nil {
		f.Close()
		return fmt.Errorf("peers: %s: %w", path, err)
	}
	return f.Close()
}
