package main

import (
	"strings"
	"testing"

	"thundercollective/internal/bench"
	"thundercollective/internal/freeaddr"
)

// The flags of the first program of this name, in two processes.
func TestFirstFlags(t *testing.T) {
	for _, mode := range []bench.Mode{bench.PingPong, bench.AllReduce} {
		t.Run(string(mode), func(t *testing.T) {
			addrs := freeaddr.Loopback(t, 2)
			args := []string{"--world-size", "2", "--addr", addrs[0], "--addr", addrs[1],
				"--mode", string(mode), "--num-streams", "4", "--size", "1048576", "--iters", "3", "--json"}
			other, second := make(chan result), command(t, append(args, "--rank", "1")...)
			go func() { other <- finish(t, second) }()
			results := []result{run(t, append(args, "--rank", "0")...), <-other}
			for rank, res := range results {
				if res.code != 0 {
					t.Fatalf("rank %d: exit code %d\n%s", rank, res.code, res.stderr)
				}
				for _, field := range []string{"mode", "rank", "world_size", "size_bytes", "iters", "elapsed_secs", "gbps", "final_value"} {
					if !strings.Contains(res.stdout, `"`+field+`":`) {
						t.Errorf("rank %d: no %s in %s", rank, field, res.stdout)
					}
				}
				rows := parse(t, res.stdout)
				if len(rows) != 1 {
					t.Fatalf("rank %d: %d rows, want 1", rank, len(rows))
				}
				right(t, rows, mode, 2)
				r := rows[0]
				if r.Rank != rank || r.SizeBytes != 1<<20 || r.Iters != 3 || r.Streams != 4 || r.Fabric != "tcp" || r.GBps <= 0 || r.FinalValue == nil {
					t.Errorf("rank %d: %+v", rank, r)
				}
			}
		})
	}
}

func TestFirstFlagsForPeople(t *testing.T) {
	res := run(t, "--mode", "allreduce", "--size", "1KiB", "--iters", "2")
	if res.code != 0 || !strings.HasPrefix(res.stdout, "rank 0 of 1: allreduce of 1 KiB x 2: alone, ") || !strings.Contains(res.stdout, "0 wrong") {
		t.Errorf("exit code %d: %q %q", res.code, res.stdout, res.stderr)
	}
}
