// Peers runs thundercollective and what a user might take instead side by side on
// this machine, in one interleaved run, and writes a table of ratios and plots.
// 'make bench-peers' installs what it needs and calls it; see scripts/bench-peers.sh.
//
// Every contender runs every size in every round, one after the other, short sizes
// several times, so that what else the machine does hits all of them alike. What is shown
// is the median over these starts of the median over the iterations of the mean over the
// ranks. Nothing is left out: a contender that cannot run is named with its reason, and
// where thundercollective loses it says so in red.
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
	thunder  string // the program
	mpi      string // the compiled programs/mpi.c, "" if there is none
	mpirun   string
	python   string // with torch and mlx, "" if there is none
	programs string // directory of the peers' programs
	out      string
	rounds   int
	starts   int   // a round, of what is short
	sizes    []int // ascending by factor
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
	quick := flag.Bool("quick", false, "fewer sizes and one round: a look, not a result")
	flag.StringVar(&s.thunder, "thunder", "bin/thunder", "the thunder program")
	flag.StringVar(&s.mpi, "mpi", "", "programs/mpi.c compiled with mpicc; empty: no Open MPI")
	flag.StringVar(&s.mpirun, "mpirun", "mpirun", "Open MPI's launcher")
	flag.StringVar(&s.python, "python", "", "a Python with torch and mlx; empty: neither Gloo nor MLX")
	flag.StringVar(&s.programs, "programs", "internal/bench/peers/programs", "directory of the peers' programs")
	flag.StringVar(&s.out, "out", "docs/benchmarks", "directory to write to")
	flag.IntVar(&s.rounds, "rounds", 3, "how often everything is run")
	flag.IntVar(&s.starts, "starts", 4, "how often short sizes are run in each")
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
