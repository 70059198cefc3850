// Peers compares thundercollective with similar libraries on this machine and writes
// tables of ratios and plots. 'make bench-peers' installs what it needs and calls it; see
// scripts/bench-peers.sh.
//
// The contenders take turns: in every round each of them runs every size, short sizes
// several times, so that other load affects all of them equally. An iteration counts with
// the mean over its ranks, a run with the median over its iterations, and the result is
// the median over the runs. Nothing is omitted: the report names contenders that could
// not run, with the reason, and marks in red where thundercollective is slower.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

type settings struct {
	thunder  string // thunder program
	mpi      string // programs/mpi.c compiled; "" without Open MPI
	mpirun   string
	python   string // Python with torch and mlx; "" without
	programs string // directory of the peers' programs
	out      string
	rounds   int
	starts   int   // runs of short sizes in each round
	sizes    []int // ascending, each factor times the previous one
	factor   int
	ranks    []int
	modes    []string
	self     string
	timeout  time.Duration
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == seedVerb {
		exitOn(seedRank(os.Args[2:]))
		return
	}
	var s settings
	quick := flag.Bool("quick", false, "few sizes and one round: a preview, not a result")
	flag.StringVar(&s.thunder, "thunder", "bin/thunder", "the thunder program")
	flag.StringVar(&s.mpi, "mpi", "", "programs/mpi.c compiled with mpicc; empty to leave out Open MPI")
	flag.StringVar(&s.mpirun, "mpirun", "mpirun", "Open MPI's launcher")
	flag.StringVar(&s.python, "python", "", "Python with torch and mlx; empty to leave out Gloo and MLX")
	flag.StringVar(&s.programs, "programs", "internal/bench/peers/programs", "directory of the peers' programs")
	flag.StringVar(&s.out, "out", "docs/benchmarks", "directory to write to")
	flag.IntVar(&s.rounds, "rounds", 3, "number of rounds over all sizes")
	flag.IntVar(&s.starts, "starts", 4, "runs of short sizes in each round")
	flag.Parse()
	s.ranks, s.timeout = []int{2, 4}, 5*time.Minute
	s.modes = []string{"allreduce", "allgather", "reducescatter", "broadcast", "alltoall"}
	most := 256 << 20
	s.factor = 4
	if *quick {
		s.factor, most, s.rounds, s.starts = 16, 16<<20, 1, 1
		s.modes = s.modes[:1]
	}
	for size := 4; size <= most; size *= s.factor {
		s.sizes = append(s.sizes, size)
	}
	var err error
	s.self, err = os.Executable()
	exitOn(err)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exitOn(run(ctx, &s))
}

func run(ctx context.Context, s *settings) error {
	results := measure(ctx, s, os.Stderr)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return fmt.Errorf("peers: %w", err)
	}
	if err := writeTables(filepath.Join(s.out, "peers.md"), s, results); err != nil {
		return err
	}
	for _, c := range results.cases {
		if err := writePlot(filepath.Join(s.out, "peers-"+c.file()+".svg"), s, c, results); err != nil {
			return err
		}
	}
	return nil
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}
