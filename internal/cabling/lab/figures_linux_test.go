package lab_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"thundercollective/internal/cabling/lab"
)

// figuresVar asks for the figures, which take minutes and a machine that is not busy
// with something else: make test-rails.
const figuresVar = "THUNDER_FIGURES"

const (
	elems = 16 << 20 // 64 MiB
	bits  = elems * 32
)

// best is the time of the quickest iteration, in seconds: that of the cables, which
// cannot be quicker than they are, and least of what else the machine does.
func (r *report) best() float64 { return slices.Min(r.Each) }

func needFigures(t *testing.T) {
	t.Helper()
	if os.Getenv(figuresVar) == "" {
		t.Skipf("figures are measured by make test-rails (%s=1)", figuresVar)
	}
}

// figure prints a ratio beside its target.
func figure(t *testing.T, what string, got, target float64) {
	t.Helper()
	verdict := "reached"
	if got < target {
		verdict = "NOT reached"
		t.Fail()
	}
	t.Logf("%-62s %6.3f  target %.2f  %s", what, got, target, verdict)
}

// TestFigureEqualRails: one cable, then both.
//
//	[0]──1 Gb/s──[1]
//	 └───1 Gb/s───┘
func TestFigureEqualRails(t *testing.T) {
	needFigures(t)
	l := lab.New(t, 2, lab.Cable{A: 0, B: 1, Mbps: 1000}, lab.Cable{A: 0, B: 1, Mbps: 1000})
	for _, do := range []string{"pingpong", "allreduce"} {
		one, _ := play(t, l, task{Do: do, Elems: elems, Iters: 5, Rails: 1}, nil)
		two, _ := play(t, l, task{Do: do, Elems: elems, Iters: 5}, nil)
		figure(t, do+", two rails over one", one.best()/two.best(), 1.9)
	}
}

// TestFigureUnequalRails: both cables run full.
//
//	[0]──1 Gb/s──[1]
//	 └───3 Gb/s───┘
func TestFigureUnequalRails(t *testing.T) {
	needFigures(t)
	l := lab.New(t, 2, lab.Cable{A: 0, B: 1, Mbps: 1000}, lab.Cable{A: 0, B: 1, Mbps: 3000})
	sum := (l.Rate(0) + l.Rate(1)) * 1e6
	r, _ := play(t, l, task{Do: "pingpong", Elems: elems, Iters: 5}, nil)
	figure(t, "ping-pong, rails of 1 and 3 Gb/s over the sum of iperf3's rates", 2*bits/r.best()/sum, 0.95)
	// Two ranks exchange halves, twice: the vector goes over the cables once each way.
	r, _ = play(t, l, task{Do: "allreduce", Elems: elems, Iters: 5}, nil)
	figure(t, "all-reduce, rails of 1 and 3 Gb/s over the sum of iperf3's rates", bits/r.best()/sum, 0.95)
}

// TestFigureRing: the bound of a one-way ring is 2·3/4 of the vector over each cable.
//
//	[0]──[1]   each 1 Gb/s
//	 │    │
//	[3]──[2]
func TestFigureRing(t *testing.T) {
	needFigures(t)
	l := lab.New(t, 4, lab.Cable{A: 0, B: 1, Mbps: 1000}, lab.Cable{A: 1, B: 2, Mbps: 1000},
		lab.Cable{A: 2, B: 3, Mbps: 1000}, lab.Cable{A: 3, B: 0, Mbps: 1000})
	bound := 1.5 * bits / (l.Rate(0) * 1e6)
	one, _ := play(t, l, task{Do: "allreduce", Edges: l.Edges(), Elems: elems, Iters: 3, Algo: "ring"}, nil)
	figure(t, "ring of 4, one way, over its bound", bound/one.best(), 0.93)
	both, _ := play(t, l, task{Do: "allreduce", Edges: l.Edges(), Elems: elems, Iters: 3}, nil)
	figure(t, "ring of 4, both ways, over the bound of one", bound/both.best(), 1.7)
}

// TestFigureChain: from end to end through the middle.
//
//	[0]──1 Gb/s──[1]──1 Gb/s──[2]
func TestFigureChain(t *testing.T) {
	needFigures(t)
	l := lab.New(t, 3, lab.Cable{A: 0, B: 1, Mbps: 1000}, lab.Cable{A: 1, B: 2, Mbps: 1000})
	rate := l.Rate(0) * 1e6
	r, _ := play(t, l, task{Do: "oneway", Edges: l.Edges(), Elems: elems, Iters: 3}, nil)
	figure(t, "chain of 3, end to end, over the rate", bits/r.best()/rate, 0.9)
}

// TestFigureTriangle: one cable has a tenth of the rate. No packing of trees into the
// cables is faster than 1.05 of a fast one (cabling.Graph.Bound): all three ranks
// apart have 2.1 between them, for two.
//
//	[0]──1 Gb/s──[1]
//	  ╲          ╱
//	 0.1 Gb/s  1 Gb/s
//	     ╲    ╱
//	      [2]
func TestFigureTriangle(t *testing.T) {
	needFigures(t)
	l := lab.New(t, 3, lab.Cable{A: 0, B: 1, Mbps: 1000}, lab.Cable{A: 1, B: 2, Mbps: 1000}, lab.Cable{A: 0, B: 2, Mbps: 100})
	best := 1.05 * l.Rate(0) * 1e6
	r, _ := play(t, l, task{Do: "allreduce", Edges: l.Edges(), Elems: elems, Iters: 3}, nil)
	figure(t, "triangle with a slow cable, over the bound of the graph", bits/r.best()/best, 0.9)
}

// TestFigureRestored: one of two cables is cut during 100 all-reduces, and put back.
//
//	[0]──1 Gb/s────[1]
//	 └──✂─1 Gb/s────┘
func TestFigureRestored(t *testing.T) {
	needFigures(t)
	l := lab.New(t, 2, lab.Cable{A: 0, B: 1, Mbps: 1000}, lab.Cable{A: 0, B: 1, Mbps: 1000})
	const part = 1 << 20 // 4 MiB
	one, _ := play(t, l, task{Do: "allreduce", Elems: part, Iters: 10, Rails: 1}, nil)
	r, logs := play(t, l, task{Do: "allreduce", Elems: part, Iters: 100, Signal: 30}, func(i int) {
		switch i {
		case 30:
			l.Cut(1)
		case 60:
			l.Restore(1)
		}
	})
	t.Log(logs)
	after := report{Each: r.Each[85:]}
	figure(t, "throughput after the restore over one rail's", one.best()/after.best(), 1.8)
}

// TestFigureOneLink: all-reduce of two hosts on one cable, and Open MPI's on the same.
// Each sends its vector to the other, whatever the algorithm. Ours is the best of
// five, as in the other figures, less the burst that the cable lets pass after the
// pause between two; Open MPI's come without a pause. Medians are compared.
//
//	[0]──1 Gb/s──[1]
func TestFigureOneLink(t *testing.T) {
	needFigures(t)
	l := lab.New(t, 2, lab.Cable{A: 0, B: 1, Mbps: 1000})
	rate := l.Rate(0) * 1e6
	sizes := []int{1 << 20, 4 << 20, 64 << 20}
	peer := openMPI(t, l, sizes...)
	for _, size := range sizes {
		r, _ := play(t, l, task{Do: "allreduce", Elems: size / 4, Iters: 5}, nil)
		paced := float64(size-l.Burst(0)) * 8 / rate
		figure(t, fmt.Sprintf("all-reduce of %d MiB on one cable over the rate", size>>20), paced/r.best(), 0.97)
		if took, ok := peer[size]; ok {
			t.Logf("%-62s %6.3f  ours %.3f (medians)", "  Open MPI beside it", float64(size)*8/rate/took, paced/r.median())
		}
	}
}

func (r *report) median() float64 { return slices.Sorted(slices.Values(r.Each))[len(r.Each)/2] }
