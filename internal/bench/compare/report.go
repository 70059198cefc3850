package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"thundercollective/internal/bench/trial"
)

// limits are the ratios of head over base above which head counts as slower.
type limits struct {
	Mean float64 `json:"mean"` // geometric mean over the cells
	Cell float64 `json:"cell"` // one cell, in every round
}

// A report is the result of a comparison.
type report struct {
	Base  string       `json:"base"`
	Head  string       `json:"head"`
	Cells []cellReport `json:"cells"`
	// Mean is the geometric mean of the cells' median ratios.
	Mean     float64  `json:"geometric_mean"`
	Limits   limits   `json:"limits"`
	Slow     []string `json:"slow_cells"` // above Limits.Cell in every round
	Slower   bool     `json:"slower"`
	IdleBase float64  `json:"idle_cpu_percent_base"`
	IdleHead float64  `json:"idle_cpu_percent_head"`
}

// A cellReport is the result of one cell. Times are in microseconds, the median over
// the rounds; ratios are head over base.
type cellReport struct {
	Name   string    `json:"cell"`
	Base   float64   `json:"base_us"`
	Head   float64   `json:"head_us"`
	Rounds []float64 `json:"ratios"`
	Median float64   `json:"median"`
}

// report sums up the measurement.
func (m *measurement) report() *report {
	r := &report{
		Base: m.base.name, Head: m.head.name, Limits: m.limits, Slow: []string{},
		IdleBase: trial.Median(m.idle[0]), IdleHead: trial.Median(m.idle[1]),
	}
	for i, c := range m.cells {
		r.Cells = append(r.Cells, summarize(c.String(), m.rounds[i]))
	}
	r.judge()
	return r
}

// summarize sums up the rounds of a cell.
func summarize(name string, rounds []round) cellReport {
	c := cellReport{Name: name}
	var base, head []float64
	for _, r := range rounds {
		base, head = append(base, r.Base), append(head, r.Head)
		c.Rounds = append(c.Rounds, r.Head/r.Base)
	}
	c.Base, c.Head, c.Median = trial.Median(base), trial.Median(head), trial.Median(c.Rounds)
	return c
}

// judge fills in the geometric mean and whether head is slower: in the mean, or in
// some cell in every round.
func (r *report) judge() {
	var logs float64
	for _, c := range r.Cells {
		logs += math.Log(c.Median)
		if c.slow(r.Limits.Cell) {
			r.Slow = append(r.Slow, c.Name)
		}
	}
	r.Mean = math.Exp(logs / float64(len(r.Cells)))
	r.Slower = r.Mean > r.Limits.Mean || len(r.Slow) > 0
}

// slow reports whether the ratio is above the limit in every round.
func (c cellReport) slow(limit float64) bool {
	for _, ratio := range c.Rounds {
		if ratio <= limit {
			return false
		}
	}
	return true
}

// write prints the report as text.
func (r *report) write(w io.Writer) {
	fmt.Fprintf(w, "head: %s\nbase: %s\nratio: time of head over time of base; above 1, head is slower\n\n", r.Head, r.Base)
	fmt.Fprintf(w, "%-28s %10s %10s", "cell", "base µs", "head µs")
	for i := range r.Cells[0].Rounds {
		fmt.Fprintf(w, "  round %d", i+1)
	}
	fmt.Fprintf(w, "   median\n")
	for _, c := range r.Cells {
		fmt.Fprintf(w, "%-28s %10.2f %10.2f", c.Name, c.Base, c.Head)
		for _, ratio := range c.Rounds {
			fmt.Fprintf(w, " %8.3f", ratio)
		}
		fmt.Fprintf(w, " %8.3f", c.Median)
		if c.slow(r.Limits.Cell) {
			fmt.Fprint(w, "  slower")
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\ngeometric mean %.3f (limit %.3f)\n", r.Mean, r.Limits.Mean)
	slow := "none"
	if len(r.Slow) > 0 {
		slow = strings.Join(r.Slow, ", ")
	}
	fmt.Fprintf(w, "above %.3f in every round: %s\n", r.Limits.Cell, slow)
	fmt.Fprintf(w, "processor time of a waiting rank: base %.2f %%, head %.2f %%\n", r.IdleBase, r.IdleHead)
	if r.Slower {
		fmt.Fprintln(w, "head is slower")
	} else {
		fmt.Fprintln(w, "head is not slower")
	}
}

// writeJSON writes the report to a file.
func (r *report) writeJSON(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
