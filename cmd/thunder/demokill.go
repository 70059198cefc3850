package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/bench"
	"thundercollective/internal/launch/local"
)

// killRank kills a rank in the middle of an all-reduce and shows that the others notice and
// name it.
func (d *demo) killRank(ctx context.Context) error {
	if d.ranks < 2 {
		return nil
	}
	d.say("\n%s\n", d.color.Bold("5. And when a rank dies? One is killed in the middle of an all-reduce"))
	const victim = 1
	// The first size takes a moment and shows that the ranks are working; the second would
	// take minutes.
	cfg := bench.Config{Mode: bench.AllReduce, DType: thunder.F32, Op: thunder.Sum, Min: 4, Max: 16 << 20, Factor: 4 << 20,
		Iters: 5000, Fabric: "tcp", Check: bench.CheckNone}
	var (
		mu     sync.Mutex
		pid    int
		killed time.Time
		said   bytes.Buffer
	)
	run := localRun{cfg: cfg, ranks: d.ranks, started: func(rank, p int) {
		if rank == victim {
			mu.Lock()
			defer mu.Unlock()
			pid = p
		}
	}}
	err := run.run(ctx, func(bench.Row) {
		mu.Lock()
		defer mu.Unlock()
		// The rank took part in this row a moment ago, so the process ID is still its own.
		_ = syscall.Kill(pid, syscall.SIGKILL)
		killed = time.Now()
	}, &said)
	took := time.Since(killed).Round(time.Millisecond)
	var exit *local.ExitError
	if !errors.As(err, &exit) || exit.Rank != victim {
		return fmt.Errorf("killed rank %d, but the run ended with: %w\n%s", victim, err, said.String())
	}
	named := 0
	for line := range strings.Lines(said.String()) {
		if strings.Contains(line, fmt.Sprintf("lost rank %d", victim)) {
			named++
		}
		d.say("   %s", d.color.Dim(line))
	}
	if named != d.ranks-1 {
		return fmt.Errorf("killed rank %d, but %d of %d others named it", victim, named, d.ranks-1)
	}
	d.say("   %s\n", d.color.Good(fmt.Sprintf("ok  all %d others named rank %d and ended after %v", named, victim, took)))
	return nil
}
