package trial

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		values []float64
		q      float64
		want   float64
	}{
		{nil, 0.5, 0},
		{[]float64{3}, 0.25, 3},
		{[]float64{9, 1, 2}, 0.5, 2},
		{[]float64{4, 1, 2, 3}, 0.5, 2.5},
		{[]float64{5, 1, 2, 3, 4}, 0.25, 2},
		{[]float64{2, 1}, 1, 2},
		{[]float64{2, 1}, 0, 1},
	} {
		if got := Quantile(c.values, c.q); got != c.want {
			t.Errorf("Quantile(%v, %v) = %v, want %v", c.values, c.q, got, c.want)
		}
	}
	values := []float64{3, 1, 2}
	if Median(values) != 2 || values[0] != 3 {
		t.Errorf("Median is wrong, or sorted its argument: %v", values)
	}
}

// TestOutput checks that the error of a program contains what it complained about last.
func TestOutput(t *testing.T) {
	out, err := Output(exec.Command("sh", "-c", "echo result; echo first >&2; echo reason >&2; exit 3"))
	if string(out) != "result\n" || err == nil || !strings.Contains(err.Error(), "reason") || strings.Contains(err.Error(), "first") {
		t.Errorf("got %q, %v", out, err)
	}
}

// TestThunder checks the arguments passed to the program and the rows read from it.
func TestThunder(t *testing.T) {
	program := filepath.Join(t.TempDir(), "thunder")
	script := `#!/bin/sh
[ "$*" = "bench allreduce -n 2 --json" ] || exit 1
echo '{"mode":"allreduce","size_bytes":8,"lat_us":{"p50":1.5},"of_a_later_version":1}'
echo '{"mode":"allreduce","size_bytes":32,"lat_us":{"p50":2}}'
`
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	rows, err := Thunder(t.Context(), program, "allreduce", "-n", "2")
	if err != nil || len(rows) != 2 || rows[0].Lat.P50 != 1.5 || rows[1].SizeBytes != 32 {
		t.Errorf("got %+v, %v", rows, err)
	}
}
