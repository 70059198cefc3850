package main

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the files of testdata")

// sample is a measurement with one cell that is slower in every round, one that is
// slower in two of three, and one that is faster.
func sample() *measurement {
	list := cells()
	return &measurement{
		settings: &settings{limits: limits{Mean: 1.02, Cell: 1.08}},
		base:     version{name: "v1 (0123456)"}, head: version{name: "the working tree"},
		cells: []cell{list[0], list[14], list[len(list)-1]},
		rounds: [][]round{
			{{10, 11}, {10, 12}, {20, 22}},
			{{1000, 1100}, {1000, 1090}, {1000, 1000}},
			{{30000, 24000}, {30000, 25000}, {30000, 26000}},
		},
		idle: [2][]float64{{0.2, 0.3, 0.1}, {0.25, 0.35, 0.15}},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (run with -update if it should):\n%s", path, got)
	}
}

func TestReport(t *testing.T) {
	r := sample().report()
	var text bytes.Buffer
	r.write(&text)
	golden(t, "report.txt", text.Bytes())
	path := filepath.Join(t.TempDir(), "report.json")
	if err := r.writeJSON(path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", got)
}

func TestSummarize(t *testing.T) {
	c := summarize("x", []round{{10, 11}, {20, 20}, {40, 60}})
	if c.Base != 20 || c.Head != 20 || c.Median != 1.1 || len(c.Rounds) != 3 || c.Rounds[2] != 1.5 {
		t.Errorf("got %+v", c)
	}
}

// TestJudge checks that head is slower if the mean is, or a cell in every round, and
// not otherwise.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name   string
		cells  [][]float64 // ratios by cell and round
		mean   float64
		slow   int
		slower bool
	}{
		{"the same", [][]float64{{1, 1}, {1, 1}}, 1, 0, false},
		{"one round is noise", [][]float64{{1, 1.3, 1}, {1, 1, 1}}, 1, 0, false},
		{"one cell in every round", [][]float64{{1.09, 1.1, 1.2}, {0.9, 0.9, 0.9}}, math.Sqrt(1.1 * 0.9), 1, true},
		{"all cells a little", [][]float64{{1.03, 1.03}, {1.03, 1.03}}, 1.03, 0, true},
		{"faster and slower cancel out", [][]float64{{1.05}, {1 / 1.05}}, 1, 0, false},
	} {
		r := &report{Limits: limits{Mean: 1.02, Cell: 1.08}}
		for _, ratios := range c.cells {
			var rounds []round
			for _, ratio := range ratios {
				rounds = append(rounds, round{1, ratio})
			}
			r.Cells = append(r.Cells, summarize("x", rounds))
		}
		r.judge()
		if math.Abs(r.Mean-c.mean) > 1e-9 || len(r.Slow) != c.slow || r.Slower != c.slower {
			t.Errorf("%s: mean %v, %d slow cells, slower %v; want %v, %d, %v", c.name, r.Mean, len(r.Slow), r.Slower, c.mean, c.slow, c.slower)
		}
	}
}
