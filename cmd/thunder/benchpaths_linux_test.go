package main

import (
	"runtime"
	"strconv"
	"testing"
)

// TestBenchPaths: a row names the path that ranks of one machine took, and
// only messages are predicted.
func TestBenchPaths(t *testing.T) {
	rows := rowsOf(t, "bench", "allreduce", "--json", "--explain", "--fabric", "shm", "--min", "64", "--max", "256KiB", "--factor", "4096", "--iters", "2")
	if len(rows) != 2 || rows[0].Algo != "board" || rows[1].Algo != "roundtrip" {
		t.Fatalf("got %+v, want a row on the board and one of round trips", rows)
	}
	for _, r := range rows {
		if r.Predicted != nil || r.Model == nil {
			t.Errorf("%+v is not a message, but is predicted", r)
		}
	}
	ranks := 2 * runtime.NumCPU()
	for n, crowding := range map[int]float64{2: 0, ranks: 2} {
		rows = rowsOf(t, "bench", "allreduce", "--json", "--explain", "--fabric", "tcp", "-n", strconv.Itoa(n), "--size", "64", "--iters", "2")
		if len(rows) != 1 || rows[0].Predicted == nil || rows[0].Crowding != crowding {
			t.Errorf("%d ranks: got %+v, want %v ranks a core", n, rows, crowding)
		}
	}
}
