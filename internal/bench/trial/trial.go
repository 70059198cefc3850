// Package trial runs benchmark programs and summarizes what several runs of them
// measured. The programs that compare versions (internal/bench/compare) and libraries
// (internal/bench/peers) share it.
package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"thundercollective/internal/bench"
)

// Output runs a command and returns its standard output. The error of a command that
// fails contains the last line it wrote to standard error.
func Output(cmd *exec.Cmd) ([]byte, error) {
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); err != nil {
		last := strings.TrimSpace(diag.String())
		if i := strings.LastIndexByte(last, '\n'); i >= 0 {
			last = last[i+1:]
		}
		return out.Bytes(), fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, last)
	}
	return out.Bytes(), nil
}

// Thunder runs 'thunder bench' with the given arguments and --json, and returns the
// rows it prints.
func Thunder(ctx context.Context, program string, args ...string) ([]bench.Row, error) {
	args = append([]string{"bench"}, append(args, "--json")...)
	out, err := Output(exec.CommandContext(ctx, program, args...))
	if err != nil {
		return nil, err
	}
	var rows []bench.Row
	for line := range bytes.Lines(out) {
		var row bench.Row
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(program), err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Median returns the median of values, or 0 if there are none.
func Median(values []float64) float64 { return Quantile(values, 0.5) }

// Quantile returns the value below which the fraction q of the values lies,
// interpolating between neighbours, or 0 if there are none.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	i := int(math.Floor(at))
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
