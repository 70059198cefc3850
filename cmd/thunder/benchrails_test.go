package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"thundercollective/internal/bench"
	"thundercollective/internal/freeaddr"
)

// onRails runs a benchmark as two processes that are joined by two rails on
// loopback, and returns what rank 0 left.
func onRails(t *testing.T, args ...string) result {
	t.Helper()
	addrs := freeaddr.Rails(t, 2)
	var wg sync.WaitGroup
	var results [2]result
	for rank := range results {
		cmd := command(t, append(args, "--fabric", "tcp", "--num-streams", "2", "--rank", strconv.Itoa(rank), "--world-size", "2", "--addr", addrs[0], "--addr", addrs[1])...)
		wg.Go(func() { results[rank] = finish(t, cmd) })
	}
	wg.Wait()
	for rank, r := range results {
		if r.code != 0 {
			t.Fatalf("rank %d: exit code %d\n%s", rank, r.code, r.stderr)
		}
	}
	if results[1].stdout != "" {
		t.Errorf("rank 1 printed %q", results[1].stdout)
	}
	return results[0]
}

// TestBenchRailsChecksum: payloads carry checksums over several rails as over one.
func TestBenchRailsChecksum(t *testing.T) {
	t.Parallel()
	rows := parse(t, onRails(t, "bench", "alltoall", "--checksum", "--json", "--min", "8", "--max", "4MiB", "--factor", "512", "--iters", "3").stdout)
	if len(rows) != 3 {
		t.Errorf("%d rows, want 3", len(rows))
	}
	right(t, rows, bench.AllToAll, 2)
}

func TestBenchRailsJSON(t *testing.T) {
	t.Parallel()
	const size, iters = 4 << 20, 5
	out := onRails(t, "bench", "allreduce", "--rails", "--json", "--size", strconv.Itoa(size), "--iters", strconv.Itoa(iters), "--warmup", "0").stdout
	lines := strings.SplitAfter(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want a row and the rails:\n%s", len(lines), out)
	}
	right(t, parse(t, lines[0]), bench.AllReduce, 2)
	var got struct {
		Rails []map[string]any `json:"rails"`
	}
	if err := json.Unmarshal([]byte(lines[1]), &got); err != nil {
		t.Fatalf("%q: %v", lines[1], err)
	}
	if len(got.Rails) != 2 {
		t.Fatalf("rails %v, want 2", got.Rails)
	}
	var sent, received, resent float64
	for i, r := range got.Rails {
		for field, want := range map[string]any{
			"rank": 0.0, "peer": 1.0, "near": fmt.Sprintf("127.0.%d.1", i), "far": fmt.Sprintf("127.0.%d.2", i), "device": nil,
			"up": true, "streams": nil, "sent_bytes": nil, "received_bytes": nil, "failovers": nil, "resent_segments": nil,
		} {
			v, there := r[field]
			if field == "device" && i == 1 {
				if there { // no interface has 127.0.1.1 itself
					t.Errorf("rail %d is on the interface %v", i, v)
				}
				continue
			}
			// A very busy machine may take a rail for stalled.
			if !there || want != nil && v != want && r["failovers"] == 0.0 {
				t.Errorf("rail %d: %s is %v, want %v", i, field, v, want)
			}
		}
		if n := r["streams"].(float64); n < 1 || n > 2 { // the second may still be dialled
			t.Errorf("rail %d has %v streams, want 1 or 2", i, n)
		}
		sent += r["sent_bytes"].(float64)
		received += r["received_bytes"].(float64)
		resent += r["resent_segments"].(float64)
		if len(r) != 11-i {
			t.Errorf("rail %d has %d fields: %v", i, len(r), r)
		}
	}
	// An all-reduce of two ranks moves the buffer each way, in every timed
	// iteration and in the one that is checked first.
	if least := float64(size * (iters + 1)); sent < least || received < least || sent > 2*least && resent == 0 {
		t.Errorf("%v bytes sent and %v received, want %v each and little more", sent, received, least)
	}
}

func TestBenchRailsTable(t *testing.T) {
	t.Parallel()
	out := onRails(t, "bench", "allreduce", "--rails", "--size", "1MiB", "--iters", "2").stdout
	for _, want := range []string{"rails of rank 0", "127.0.0.1", "127.0.1.2", "streams", "received"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	// Ranks of one machine have no rails.
	alone := []string{"bench", "barrier", "--rails", "--fabric", "mem", "--iters", "1"}
	if res := run(t, alone...); res.code != 0 || !strings.HasSuffix(res.stdout, "rank 0 has one rail to each peer\n") {
		t.Errorf("exit code %d\n%s\n%s", res.code, res.stdout, res.stderr)
	}
	if res := run(t, append(alone, "--json")...); res.code != 0 || !strings.HasSuffix(res.stdout, "\n{\"rails\":[]}\n") {
		t.Errorf("exit code %d\n%s\n%s", res.code, res.stdout, res.stderr)
	}
}

func TestBenchMatrixRails(t *testing.T) {
	t.Parallel()
	svg := filepath.Join(t.TempDir(), "matrix.svg")
	out := onRails(t, "bench", "matrix", "--size", "256KiB", "--iters", "3", "--svg", svg).stdout
	for _, want := range []string{"# bandwidth one way (GB/s)", "# bandwidth both ways (GB/s)", "# round trip p50 (us)", "# round trip p99 (us)",
		"# streams", "# each rail alone", "     1    0     1  -          127.0.1.2            127.0.1.1"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	wellFormed(t, svg)
	rows := parse(t, onRails(t, "bench", "matrix", "--size", "256KiB", "--iters", "3", "--json").stdout)
	if len(rows) != 6 {
		t.Fatalf("%d rows, want 2 pairs and the 2 rails of each", len(rows))
	}
	for i, r := range rows {
		if (r.Rail == nil) != (i%3 == 0) || r.From == nil || r.To == nil {
			t.Errorf("row %d: %+v", i, r)
		}
	}
}
