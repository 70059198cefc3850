package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func sample() (*settings, *results) {
	c := benchCase{"allreduce", "shm", 2}
	s := &settings{sizes: []int{8, 4096}, rounds: 3}
	r := &results{
		cases: []benchCase{c}, names: []string{ours, oursAlloc, limitName, "Open MPI"},
		micros: map[key][]float64{
			{c, ours, 8}:          {2, 1, 9},
			{c, "Open MPI", 8}:    {1, 1, 1},
			{c, ours, 4096}:       {4},
			{c, "Open MPI", 4096}: {8},
			{c, oursAlloc, 4096}:  {3},
			{c, limitName, 4096}:  {2},
		},
		pings:    []ping{{"iperf3", 3}, {"iperf3", 5}, {"iperf3", 4}},
		troubles: []string{"MLX ring did not run"},
	}
	return s, r
}

func TestTables(t *testing.T) {
	s, r := sample()
	path := filepath.Join(t.TempDir(), "peers.md")
	if err := writeTables(path, s, r); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| 8 B | 2.00 | – | – | 1.00 · 🔴 **0.50** |", // the median of the rounds, and a loss
		"| 4 KiB | 4.00 | 3.00 | 2.00 | 8.00 · 2.00 |",
		"| 4 KiB | 3.00 | 1.50 | 2.67 |",
		"| iperf3 | 4.00 |",
		"- MLX ring did not run",
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%q is not in\n%s", want, b)
		}
	}
}

func TestPlot(t *testing.T) {
	s, r := sample()
	path := filepath.Join(t.TempDir(), "a.svg")
	if err := writePlot(path, s, r.cases[0], r); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), "Open MPI") {
		t.Errorf("the picture does not name the contenders: %v", err)
	}
}

func TestParse(t *testing.T) {
	got := parse([]byte("noise\n8 1.5\n4096 20\nbad line\n"))
	if len(got) != 2 || got[8] != 1.5 || got[4096] != 20 {
		t.Errorf("got %v", got)
	}
}
