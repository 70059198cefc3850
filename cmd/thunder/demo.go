package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/bench"
	"thundercollective/internal/plot"
	"thundercollective/internal/plural"

	"github.com/spf13/cobra"
)

func newDemoCmd() *cobra.Command {
	d := &demo{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Take a two-minute tour on this machine",
		Long: `demo shows what thunder does, on this machine alone and in less than two minutes:
ranks in one process, and ranks in processes of their own that communicate over TCP;
every collective operation with every element type, every element checked; a sweep
over message sizes; and, with --plot, a picture of it.

Exit status: 0 if every result is correct, 1 if not.`,
		Example: `  thunder demo
  thunder demo --plot tour.svg
  thunder demo --json | jq -s 'map(.wrong) | add'`,
		Args: cobra.NoArgs,
		RunE: working(func(cmd *cobra.Command, _ []string) error {
			return d.run(cmd)
		}),
	}
	cmd.Flags().IntVarP(&d.ranks, "ranks", "n", 4, "`N` ranks")
	cmd.Flags().StringVar(&d.plot, "plot", "", "draw the sweep to an SVG `FILE`")
	cmd.Flags().BoolVar(&d.json, "json", false, "print the rows of every benchmark as JSON, and nothing else")
	return cmd
}

// A demo is a tour in progress.
type demo struct {
	ranks int
	plot  string
	json  bool

	out   io.Writer
	errs  io.Writer
	color bench.Color
	rows  []bench.Row // of all benchmarks
}

// maxDemoRanks keeps the tour short and its memory small.
const maxDemoRanks = 16

func (d *demo) run(cmd *cobra.Command) error {
	if d.ranks < 1 || d.ranks > maxDemoRanks {
		return usagef("-n: the tour takes 1 to %d ranks, not %d; 'thunder bench' takes more", maxDemoRanks, d.ranks)
	}
	if err := writable("--plot", d.plot); err != nil {
		return err
	}
	d.out, d.errs = cmd.OutOrStdout(), cmd.ErrOrStderr()
	d.color = bench.Color(colourful(d.out))
	ctx, start := cmd.Context(), time.Now()
	d.say("%s\n\n", d.color.Bold("thunder "+strings.Fields(version())[0]+": a tour of one machine"))
	d.say("%s, %d cores. A rank is one process of a job. Here %d ranks share this\nmachine; on a desk, each would have its own.\n", bench.CPU(), runtime.NumCPU(), d.ranks)
	for _, part := range []func(context.Context) error{d.inProcess, d.processes, d.sweep, d.killRank} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	if err := wrongError(d.rows); err != nil {
		return err
	}
	d.say("\n%s %d results, %s\nNext: 'thunder bench allreduce --help', and the same between two machines.\n",
		d.color.Good("All correct:"), len(d.rows), "without a wrong element, in "+time.Since(start).Round(100*time.Millisecond).String()+".")
	return nil
}

// say prints text, unless the output is JSON.
func (d *demo) say(format string, args ...any) {
	if !d.json {
		fmt.Fprintf(d.out, format, args...)
	}
}

func (d *demo) keep(rows []bench.Row) error {
	d.rows = append(d.rows, rows...)
	if !d.json {
		return nil
	}
	for _, r := range rows {
		if err := r.WriteJSON(d.out); err != nil {
			return err
		}
	}
	return nil
}

// verdict prints a line about measured rows, and keeps them.
func (d *demo) verdict(name string, what string, rows []bench.Row) error {
	mark := d.color.Good("ok")
	if wrongError(rows) != nil {
		mark = d.color.Bad("WRONG")
	}
	d.say("   %-14s %s  %s\n", name, mark, d.color.Dim(what))
	return d.keep(rows)
}

// checkSizes are sizes at which schedules change: nothing, fewer elements than ranks, an
// odd number, several segments.
var checkSizes = []int64{0, 8, 1000, 300_000}

// inProcess checks every collective with every type, reduction and algorithm, on ranks that
// are goroutines.
func (d *demo) inProcess(ctx context.Context) error {
	d.say("\n%s\n", d.color.Bold("1. Is it correct? Ranks in one process, every type, reduction and algorithm"))
	group, err := thunder.Local(d.ranks, thunder.Options{})
	if err != nil {
		return err
	}
	defer closeAll(group)
	for _, mode := range bench.Collectives() {
		var rows []bench.Row
		for _, cfg := range demoVariants(mode) {
			if err := runGroup(ctx, group, cfg, func(r bench.Row) { rows = append(rows, r) }); err != nil {
				return err
			}
		}
		if err := d.verdict(string(mode), fmt.Sprintf("%4d results: %s", len(rows), mode.About()), rows); err != nil {
			return err
		}
	}
	return nil
}

// demoVariants lists the configurations with which a mode is checked.
func demoVariants(mode bench.Mode) []bench.Config {
	var list []bench.Config
	for _, algo := range append([]thunder.Algo{thunder.Auto}, mode.Algos()...) {
		if mode == bench.Barrier {
			list = append(list, bench.Config{Mode: mode, Algo: algo, Iters: 1, Fabric: "mem", Streams: 1})
			continue
		}
		for _, dt := range thunder.DTypes() {
			ops := []thunder.Op{thunder.Sum}
			if mode.Reduces() {
				ops = slices.DeleteFunc(thunder.Ops(), func(op thunder.Op) bool { return thunder.CheckOp(dt, op) != nil })
			}
			for _, op := range ops {
				for _, size := range checkSizes {
					list = append(list, bench.Config{Mode: mode, Algo: algo, DType: dt, Op: op, Min: size, Max: size, Iters: 1, Fabric: "mem", Streams: 1})
				}
			}
		}
	}
	return list
}

// processes checks the collectives between processes, each with different types.
func (d *demo) processes(ctx context.Context) error {
	d.say("\n%s\n", d.color.Bold("2. The same between processes, over authenticated TCP connections"))
	types := thunder.DTypes()
	for i, mode := range bench.Collectives() {
		begin := time.Now()
		dt := types[i%len(types)]
		cfg := bench.Config{Mode: mode, DType: dt, Op: thunder.Max, Min: 64, Max: 1 << 20, Factor: 128, Iters: 5, Warmup: 1, Fabric: "tcp"}
		var rows []bench.Row
		run := localRun{cfg: cfg, ranks: d.ranks}
		if err := run.run(ctx, func(r bench.Row) { rows = append(rows, r) }, d.errs); err != nil {
			return err
		}
		what := fmt.Sprintf("%d processes, %v, %v", d.ranks, dt, time.Since(begin).Round(time.Millisecond))
		if err := d.verdict(string(mode), what, rows); err != nil {
			return err
		}
	}
	return nil
}

// sweep measures an all-reduce over each fabric and draws it.
func (d *demo) sweep(ctx context.Context) error {
	d.say("\n%s\n", d.color.Bold("3. How fast? An all-reduce from a few bytes to 16 MiB, over TCP"))
	var lines []bench.Line
	for _, fabric := range []string{"tcp", "auto", "mem"} {
		cfg := bench.Config{Mode: bench.AllReduce, DType: thunder.F32, Op: thunder.Sum, Min: 4, Max: 16 << 20, Factor: 4, Warmup: -1, Fabric: fabric}
		r := &report{cfg: cfg, ranks: d.ranks, where: plural.Count(d.ranks, "local rank")}
		out := d.out
		if d.json || fabric != "tcp" {
			out = io.Discard
		}
		run := localRun{cfg: cfg, ranks: d.ranks}
		if err := r.watch(ctx, out, d.errs, run.run); err != nil && wrongError(r.rows) == nil {
			return err
		}
		if err := d.keep(r.rows); err != nil {
			return err
		}
		// On one machine, auto means shared memory if available.
		lines = append(lines, bench.Line{Name: r.rows[0].Fabric, Rows: r.rows})
	}
	d.bars(lines)
	return d.picture(lines)
}

// bars draws the sweeps with characters.
func (d *demo) bars(lines []bench.Line) {
	d.say("\n%s\n", d.color.Bold("4. In one picture: TCP, shared memory, and ranks in one process"))
	peaks := make([]bench.Row, len(lines))
	best := 0.0
	for i, l := range lines {
		peaks[i] = slices.MaxFunc(l.Rows, func(a, b bench.Row) int { return cmp.Compare(a.BusBW, b.BusBW) })
		best = max(best, peaks[i].BusBW)
	}
	for i, l := range lines {
		var times, rates []float64
		for _, r := range l.Rows {
			times, rates = append(times, r.Lat.P50), append(rates, r.BusBW)
		}
		d.say("   %-4s time %s %s to %s   bandwidth %s\n", l.Name, plot.Spark(times),
			bench.FormatMicros(times[0]), bench.FormatMicros(times[len(times)-1]), plot.Spark(rates))
		d.say("        %s %s at %s\n", d.color.Good(plot.Bar(peaks[i].BusBW, best, 40)),
			bench.FormatRate(peaks[i].BusBW), bench.FormatSize(float64(peaks[i].SizeBytes)))
	}
}

func (d *demo) picture(lines []bench.Line) error {
	if d.plot == "" {
		d.say("   --plot FILE draws it\n")
		return nil
	}
	subtitle := fmt.Sprintf("%d ranks on one machine · %s · f32 sum", d.ranks, bench.CPU())
	if err := writeSVG(d.plot, bench.Chart("thunder demo · allreduce", subtitle, lines...)); err != nil {
		return err
	}
	d.say("   drawn to %s\n", d.plot)
	return nil
}
