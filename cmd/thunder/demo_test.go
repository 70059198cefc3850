package main

import (
	"path/filepath"
	"strings"
	"testing"

	thunder "thundercollective"
	"thundercollective/internal/bench"
)

func TestDemoRows(t *testing.T) {
	t.Parallel()
	svg := filepath.Join(t.TempDir(), "demo.svg")
	rows := rowsOf(t, "demo", "-n", "3", "--json", "--plot", svg)
	type cell struct{ fabric, what string }
	seen := map[cell]bool{}
	for _, r := range rows {
		if r.Wrong == nil || *r.Wrong != 0 || r.WorldSize != 3 {
			t.Errorf("%+v", r)
		}
		seen[cell{r.Fabric, string(r.Mode)}] = true
		seen[cell{"any", r.DType}] = true
	}
	for _, m := range bench.Collectives() {
		for _, fabric := range []string{"mem", "tcp"} {
			if !seen[cell{fabric, string(m)}] {
				t.Errorf("%s is not shown over %s", m, fabric)
			}
		}
	}
	for _, dt := range thunder.DTypes() {
		if !seen[cell{"any", dt.String()}] {
			t.Errorf("%v is not shown", dt)
		}
	}
	wellFormed(t, svg)
}

func TestDemoTour(t *testing.T) {
	t.Parallel()
	svg := filepath.Join(t.TempDir(), "demo.svg")
	res := run(t, "demo", "-n", "2", "--plot", svg)
	if res.code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", res.code, res.stdout, res.stderr)
	}
	for _, want := range []string{"drawn to " + svg, "lost rank 1", "ok  all 1 others named rank 1", "All correct: "} {
		if !strings.Contains(res.stdout, want) {
			t.Errorf("%q is not in\n%s", want, res.stdout)
		}
	}
	wellFormed(t, svg)
}
