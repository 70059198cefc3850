package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"thundercollective/internal/bench/trial"
)

// longFrom is the size from which on one run in each round is enough.
const longFrom = 128 << 10

// results are the measurements of all rounds.
type results struct {
	cases    []benchCase
	names    []string // of contenders
	micros   map[key][]float64
	troubles []string // contenders that could not run, and why
	pings    []ping
	started  time.Time
}

type key struct {
	c    benchCase
	name string
	size int
}

// at returns the median over the runs, or 0 without any.
func (r *results) at(c benchCase, name string, size int) float64 {
	return trial.Median(r.micros[key{c, name, size}])
}

// has reports whether a contender took part in a case.
func (r *results) has(c benchCase, name string) bool {
	for k := range r.micros {
		if k.c == c && k.name == name {
			return true
		}
	}
	return false
}

// measure runs everything, round by round.
func measure(ctx context.Context, s *settings, progress io.Writer) *results {
	r := &results{micros: map[key][]float64{}, started: time.Now()}
	for _, n := range s.ranks {
		for _, wire := range []string{"tcp", "shm"} {
			for _, mode := range s.modes {
				r.cases = append(r.cases, benchCase{mode, wire, n})
			}
		}
	}
	list := contenders(s)
	for _, c := range list {
		r.names = append(r.names, c.name)
	}
	if s.mpi == "" {
		r.troubles = append(r.troubles, "Open MPI did not take part: mpicc is missing")
	}
	if s.python == "" {
		r.troubles = append(r.troubles, "Gloo and MLX did not take part: no Python with torch and mlx")
	}
	for round := range s.rounds {
		for _, c := range r.cases {
			for i, t := range turns(list, s, round) {
				if !t.who.does(c) || ctx.Err() != nil {
					continue
				}
				fmt.Fprintf(progress, "%4.0fs round %d of %d: %v: %d: %s\n", time.Since(r.started).Seconds(), round+1, s.rounds, c, i+1, t.who.name)
				limited, cancel := context.WithTimeout(ctx, s.timeout)
				got, err := t.who.run(limited, s, c, t.sizes)
				cancel()
				if err != nil {
					r.troubles = append(r.troubles, fmt.Sprintf("%s, round %d, %v: %v", t.who.name, round+1, c, err))
				}
				for size, micros := range got {
					k := key{c, t.who.name, size}
					r.micros[k] = append(r.micros[k], micros)
				}
			}
		}
		fmt.Fprintf(progress, "%4.0fs round %d of %d: ping-pong and iperf3\n", time.Since(r.started).Seconds(), round+1, s.rounds)
		r.pingPong(ctx, s)
	}
	return r
}

// A turn is one run of a contender.
type turn struct {
	who   *contender
	sizes []int
}

// turns lists the runs of a round in order. The speed of the machine changes all the time,
// and a short operation meets only one speed, so short sizes are measured in several runs;
// contenders that take long to start have only one.
func turns(list []contender, s *settings, round int) (order []turn) {
	long, _ := slices.BinarySearch(s.sizes, longFrom)
	for start := range s.starts + 1 {
		for i := range list {
			who := &list[(i+round+start)%len(list)] // a different one begins each time
			switch {
			case who.slow && start == 0:
				order = append(order, turn{who, s.sizes})
			case !who.slow && start < s.starts:
				order = append(order, turn{who, s.sizes[:long]})
			case !who.slow && long < len(s.sizes):
				order = append(order, turn{who, s.sizes[long:]})
			}
		}
	}
	return order
}
