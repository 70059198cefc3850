package main

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/bench"
	"thundercollective/internal/launch/local"

	"github.com/spf13/cobra"
)

// A rank parses from its command line what its parent checked.
func TestRankArgsRoundTrip(t *testing.T) {
	for _, want := range []bench.Config{
		{Mode: bench.AllReduce, Algo: thunder.HalvingDoubling, DType: thunder.BF16, Op: thunder.Avg, Min: 0, Max: 1 << 40, Factor: 3, Iters: 7, Warmup: 0, Check: bench.CheckNone, BarrierEach: true, Fabric: "tcp", Streams: 2},
		{Mode: bench.Scatter, DType: thunder.Bool, Op: thunder.Xor, Root: 3, Min: 5, Max: 5, Factor: 2, Warmup: -1, Check: bench.CheckEnds, Fabric: "tcp", Streams: 1},
		{Mode: bench.Matrix, DType: thunder.F32, Op: thunder.Sum, Min: 1 << 20, Max: 4 << 20, Factor: 4, Warmup: -1, Check: bench.CheckAll, Fabric: "tcp", Streams: 4},
	} {
		args := rankArgs(want, 3*time.Second)
		var f workFlags
		cmd := &cobra.Command{}
		cmd.Flags().StringVar(&f.fabric, "fabric", "", "")
		cmd.Flags().Bool("json", false, "")
		f.addCommon(cmd.Flags())
		f.addSweep(cmd.Flags())
		if err := cmd.ParseFlags(args[2:]); err != nil {
			t.Fatal(err)
		}
		got, err := f.config(cmd.Flags(), args[1], "")
		if err != nil {
			t.Fatal(err)
		}
		if got.Fabric = f.fabric; got != want || f.timeout != 3*time.Second {
			t.Errorf("%v\nbecame %+v,\nwant   %+v", args, got, want)
		}
	}
}

func TestRowReader(t *testing.T) {
	var sizes []int64
	r := &rowReader{emit: func(row bench.Row) { sizes = append(sizes, row.SizeBytes) }}
	for _, lines := range []string{"{\"size_bytes\":1}\n{\"size_bytes\":2}\n", "{\"size_bytes\":3}\n"} {
		if _, err := r.Write([]byte(lines)); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(sizes, []int64{1, 2, 3}) {
		t.Errorf("got %v", sizes)
	}
	if _, err := r.Write([]byte("panic: oh\n")); err == nil || r.err == nil || !strings.Contains(err.Error(), "panic: oh") {
		t.Errorf("got %v", err)
	}
}

func TestPrefixer(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var b bytes.Buffer
	p := &prefixer{ctx, &b, "rank 1: "}
	for _, lines := range []string{"a\nb\n", "c\n"} {
		if n, err := p.Write([]byte(lines)); n != len(lines) || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
	}
	cancel()
	p.Write([]byte("interrupted\n"))
	if b.String() != "rank 1: a\nrank 1: b\nrank 1: c\n" {
		t.Errorf("got %q", b.String())
	}
}

func TestFirstEnd(t *testing.T) {
	code := func(rank int) *local.ExitError { return &local.ExitError{Rank: rank, Code: 1} }
	signal := func(rank int) *local.ExitError {
		return &local.ExitError{Rank: rank, Code: -1, Signal: syscall.SIGKILL}
	}
	for _, c := range []struct {
		name  string
		exits []*local.ExitError
		apart time.Duration
		blame int
		says  string
	}{
		{"only codes", []*local.ExitError{nil, code(2), code(0)}, 0, 2, "above"},
		{"killed first", []*local.ExitError{signal(1), code(2)}, 0, 1, "memory"},
		{"others gone before the killed one", []*local.ExitError{code(2), signal(1), code(0)}, 0, 1, "memory"},
		{"killed because it did not end", []*local.ExitError{code(2), signal(1)}, exitLinger, 2, "above"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var end firstEnd
				var first error
				for _, e := range c.exits {
					end.exited(0, e)
					if e != nil && first == nil {
						first = e
					}
					time.Sleep(c.apart)
				}
				var exit *local.ExitError
				err := end.advise(first)
				if !errors.As(err, &exit) || exit.Rank != c.blame || !strings.Contains(err.Error(), c.says) {
					t.Errorf("got %v, want one about rank %d that says %q", err, c.blame, c.says)
				}
			})
		})
	}
	plain := errors.New("no such file")
	var end firstEnd
	if err := end.advise(plain); err != plain {
		t.Errorf("got %v", err)
	}
}
