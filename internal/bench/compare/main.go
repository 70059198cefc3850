// Compare measures two versions of the thunder program against each other on this
// machine and reports whether the newer one became slower. 'make bench-compare
// BASE=COMMIT' calls it.
//
// Each cell (an operation, a size, a fabric and a number of ranks) is measured in many
// short runs of the two programs in turns: base, head, head, base and so on. One run
// yields the median over its iterations; a round of a cell yields the lower quartile over
// its runs. A few long runs would not do: processors switch between speeds on their own,
// from one fraction of a second to the next, and other work interferes. The lower
// quartile is steadier than the median: comparing a program with itself on a busy
// machine, ratios of runs up to 1 MiB were off by at most 3 %, those of medians by 9 %.
//
// The exit status is 0 if head is not slower, 1 if it is (see report.judge), and 2 if the
// comparison could not be made.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
)

// settings are what the command line specifies.
type settings struct {
	base, head string // commits; an empty head is the working tree
	rounds     int
	runs       float64 // factor on the number of runs of each cell
	quantile   float64 // over the runs of one round
	cells      *regexp.Regexp
	json       string
	limits     limits
}

// The exit statuses.
const (
	statusSame   = 0
	statusSlower = 1
	statusFailed = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	slower, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(statusSame)
	case err != nil:
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(statusFailed)
	case slower:
		os.Exit(statusSlower)
	}
}

// parse reads the command line.
func parse(args []string, stderr io.Writer) (*settings, error) {
	var s settings
	var cells string
	fs := flag.NewFlagSet("compare", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&s.base, "base", "", "`commit` to compare with, or path of a thunder program (required)")
	fs.StringVar(&s.head, "head", "", "`commit` to judge, or path of a thunder program; empty for the working tree")
	fs.IntVar(&s.rounds, "rounds", 3, "number of rounds over all cells")
	fs.Float64Var(&s.runs, "runs", 1, "factor on the number of runs of each cell")
	fs.Float64Var(&s.quantile, "quantile", 0.25, "quantile over the runs of a round that stands for the round")
	fs.StringVar(&cells, "cells", "", "measure only cells whose name matches this `regexp`, such as 'shm/2/8B'")
	fs.StringVar(&s.json, "json", "", "also write the report to this `file`, as JSON")
	fs.Float64Var(&s.limits.Mean, "max-mean", 1.02, "largest acceptable geometric mean of head over base")
	fs.Float64Var(&s.limits.Cell, "max-cell", 1.08, "largest ratio of a cell that is acceptable in every round")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	var err error
	if s.cells, err = regexp.Compile(cells); err != nil {
		return nil, fmt.Errorf("-cells: %w", err)
	}
	switch {
	case fs.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case s.base == "":
		return nil, errors.New("-base is required: the commit to compare with")
	case s.rounds < 1:
		return nil, fmt.Errorf("-rounds is %d, want 1 or more", s.rounds)
	case s.runs <= 0:
		return nil, fmt.Errorf("-runs is %v, want more than 0", s.runs)
	case s.quantile < 0 || s.quantile > 1:
		return nil, fmt.Errorf("-quantile is %v, want 0 to 1", s.quantile)
	}
	return &s, nil
}

// run compares the versions and reports whether head is slower.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (slower bool, err error) {
	s, err := parse(args, stderr)
	if err != nil {
		return false, err
	}
	var list []cell
	for _, c := range cells() {
		if s.cells.MatchString(c.String()) {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return false, fmt.Errorf("-cells: no cell matches %q", s.cells)
	}
	dir, err := os.MkdirTemp("", "thunder-compare-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	base, err := build(ctx, dir, "base", s.base)
	if err != nil {
		return false, err
	}
	head, err := build(ctx, dir, "head", s.head)
	if err != nil {
		return false, err
	}
	m := &measurement{settings: s, base: base, head: head, cells: list, progress: stderr}
	if err := m.measure(ctx); err != nil {
		return false, err
	}
	r := m.report()
	r.write(stdout)
	if s.json != "" {
		if err := r.writeJSON(s.json); err != nil {
			return false, err
		}
	}
	return r.Slower, nil
}
