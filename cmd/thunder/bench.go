package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	thunder "thundercollective"
	"thundercollective/internal/bench"
	"thundercollective/internal/plural"

	"github.com/spf13/cobra"
)

// defaultRanks is the default number of local ranks: the fewest that communicate.
const defaultRanks = 2

// defaultFabric is the fabric of a program that does not select one.
const defaultFabric = "auto"

type benchFlags struct {
	ranks int
	json  bool
	rails bool
	svg   string
	join  joinFlags
	work  workFlags
}

func newBenchCmd() *cobra.Command {
	f := &benchFlags{}
	cmd := &cobra.Command{
		Use:   "bench MODE",
		Short: "Measure collective operations and check their results",
		Long: `bench measures one kind of communication over a range of message sizes, and
checks every element of the results: of all iterations, between the timed ones, or
of as many as the time of the timed ones or a second allows. The last lines say how
many were checked, and so does the field checked with --json.

Modes:
` + modeList() + `
Ranks. With -n N, bench starts N ranks on this machine: processes or, with
--fabric mem, goroutines of one process. If it is itself started as a rank of a
job, it joins that job, and rank 0 prints the results: by 'thunder launch', mpirun,
srun, torchrun or mlx.launch, or with --rank, --world-size and one of --addr,
--coordinator and --hostfile. Otherwise it starts 2 ranks on this machine.

Fabric. By default bench uses what a program gets by default: shared memory between
ranks of one machine, RDMA if available, and TCP between the others. --fabric tcp
measures TCP, also on one machine. The heading and the rows name the fabric.

Columns. They are those of nccl-tests: time is the average over ranks and
iterations; algbw is size over time; busbw is what the links carry, which can be
compared with the hardware's speed for any number of ranks; #wrong is the number of
wrong elements. min, p50 and p99 are those of single iterations. size includes a
block for each rank in modes that have blocks (reducescatter, allgather, gather,
scatter, alltoall), and is rounded up to whole elements. One iteration of ping-pong
is a message there and back. algo is the algorithm or, if ranks of one machine send
no messages, the path: board (they post short data on a shared page), shared (they
read from each other's memory), roundtrip (they lend each other half of the data;
the other rank adds to it in place).

JSON. With --json a row has times in seconds (elapsed_secs) and microseconds (lat_us),
and three rates in GB/s, 10^9 bytes per second: algbw_gbs and busbw_gbs are algbw and
busbw; gbps, also GB/s, counts the bytes of both directions, 2 × size over time. So
gbps is twice algbw_gbs, except in ping-pong and matrix, where they are equal: one
iteration of ping-pong is already two messages. A job of one rank sends nothing: its
rows have alone, and no times and rates.

matrix prints tables of: the bandwidth from one rank to another; the bandwidth of
both directions together when both are used at once; the time of 8 bytes there and
back, p50 and p99; and the number of streams. Pairs with several rails are measured
over all of them, then over each rail alone. With --json a row has from, to,
algbw_gbs, both_gbs, lat_us and streams; a row about a single rail also has rail,
with its index, near and far address and device, and down if it does not work.

Exit status: 0 on success, 1 if the run failed or any element was wrong, 2 if the
command line is invalid.`,
		Example: `  # two local ranks, 4 B to 64 MiB, over the default fabric and over TCP
  thunder bench allreduce
  thunder bench allreduce --fabric tcp

  # nine ranks in one process, one algorithm, 16-bit floats, every power of two
  thunder bench allreduce -n 9 --fabric mem --algo hd --dtype bf16 --factor 2

  # for scripts: one JSON object for each row; and a picture
  thunder bench alltoall -n 4 --json --svg alltoall.svg

  # every ordered pair of ranks, and every rail of pairs that have several
  thunder bench matrix -n 4 --svg matrix.svg

  # one rank on each of two machines; the token keeps other processes out
  head -c 32 /dev/urandom | base64 > job.token   # copy it to both
  thunder bench sendrecv --rank 0 --world-size 2 --coordinator 10.0.0.1:7000 --token-file job.token
  thunder bench sendrecv --rank 1 --world-size 2 --coordinator 10.0.0.1:7000 --token-file job.token`,
		Args:      oneMode,
		ValidArgs: modeCompletions(),
		RunE: working(func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, args[0])
		}),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.IntVarP(&f.ranks, "ranks", "n", 0, "start `N` ranks on this machine")
	fs.StringVar(&f.work.fabric, "fabric", "", "`FABRIC` that carries the messages: tcp, rdma, shm (ranks of one machine), auto (the best of these), or mem (ranks in one process) (default auto) (THUNDER_FABRIC)")
	f.work.addSweep(fs)
	f.work.addCommon(fs)
	renamed(cmd, "apart", "barrier-each")
	fs.BoolVar(&f.json, "json", false, "print one JSON object for each row")
	fs.BoolVar(&f.rails, "rails", false, "print the traffic of each rail of rank 0, if ranks are connected by several")
	fs.StringVar(&f.svg, "svg", "", "draw the results into an SVG `FILE`; matrix: a heat map")
	fs.StringVar(&f.svg, "plot", "", "the same as --svg")
	fs.Lookup("plot").Hidden = true // the older name
	f.join.add(fs)
	f.work.complete(cmd)
	completeFlag(cmd, "fabric", []string{"auto", "tcp", "rdma", "shm", "mem"})
	return cmd
}

func modeList() string {
	var b strings.Builder
	for _, m := range bench.Modes() {
		fmt.Fprintf(&b, "  %-14s %s\n", m, m.About())
	}
	return b.String()
}

func modeCompletions() []cobra.Completion {
	var list []cobra.Completion
	for _, m := range bench.Modes() {
		list = append(list, cobra.CompletionWithDesc(string(m), m.About()))
	}
	return list
}

func oneMode(_ *cobra.Command, args []string) error {
	var names []string
	for _, m := range bench.Modes() {
		names = append(names, string(m))
	}
	if len(args) != 1 {
		return usagef("want one mode: %s", strings.Join(names, " "))
	}
	return nil
}

func (f *benchFlags) run(cmd *cobra.Command, mode string) error {
	fs := cmd.Flags()
	cfg, err := f.work.config(fs, mode, defaultFabric)
	if err != nil {
		return err
	}
	if err := writable("--svg", f.svg); err != nil {
		return err
	}
	if f.join.joins(fs) {
		return f.joined(cmd, cfg)
	}
	if err := f.join.local(fs); err != nil {
		return err
	}
	if !fs.Changed("ranks") {
		f.ranks = defaultRanks
	}
	return f.local(cmd, cfg, f.ranks)
}

// local runs all ranks on this machine.
func (f *benchFlags) local(cmd *cobra.Command, cfg bench.Config, ranks int) error {
	if fabrics := []string{"auto", "tcp", "rdma", "shm", "mem"}; !slices.Contains(fabrics, cfg.Fabric) {
		return usagef("--fabric: unknown fabric %q; want one of %s", cfg.Fabric, strings.Join(fabrics, " "))
	}
	if cfg.Fabric == "mem" {
		cfg.Streams = 1
	}
	if err := checked(cfg.Validate(ranks)); err != nil {
		return err
	}
	if err := drawable(f.svg, cfg, ranks); err != nil {
		return err
	}
	if need, have := cfg.Memory(ranks), availableMemory(); have > 0 && need > have {
		return usagef("%d local ranks need %s for buffers, but only %s of memory is available; use a smaller --max or --size, or fewer ranks",
			ranks, bench.FormatSize(float64(need)), bench.FormatSize(float64(have)))
	}
	perProcess := cfg.Memory(ranks)
	if cfg.Fabric != "mem" {
		perProcess /= int64(ranks)
	}
	if err := checkAddressSpace(perProcess); err != nil {
		return err
	}
	r := &report{cfg: cfg, ranks: ranks, where: plural.Count(ranks, "local rank"), json: f.json, svg: f.svg}
	run := localRun{cfg: cfg, ranks: ranks, timeout: f.work.timeout, sums: f.work.sums}
	err := r.watch(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), run.run)
	if f.rails && err == nil {
		err = printRails(cmd.OutOrStdout(), 0, nil, f.json) // ranks on one machine have no rails
	}
	return err
}

// watch runs a benchmark and reports its rows.
func (r *report) watch(ctx context.Context, out, status io.Writer, run func(context.Context, func(bench.Row), io.Writer) error) error {
	r.begin(out, status)
	if err := run(ctx, r.add, r.line); err != nil {
		r.line.close()
		if wrong := wrongError(r.rows); wrong != nil {
			return wrong
		}
		return err
	}
	return r.end()
}

// joined runs as one rank of a job; rank 0 reports.
func (f *benchFlags) joined(cmd *cobra.Command, cfg bench.Config) error {
	comm, err := f.join.toMeasure(cmd, &f.work, cfg)
	if err != nil {
		return err
	}
	defer comm.Close()
	var rails []thunder.Rail
	run := func(ctx context.Context, emit func(bench.Row), _ io.Writer) error {
		if err := bench.Run(ctx, comm, cfg, emit); err != nil {
			return err
		}
		// No rank may leave before all have read the counters of their rails.
		rails = comm.Rails()
		return thunder.Barrier(ctx, comm)
	}
	if err := drawable(f.svg, cfg, comm.Size()); err != nil {
		return err
	}
	if comm.Rank() == 0 {
		r := &report{cfg: cfg, ranks: comm.Size(), where: whereabouts(comm), json: f.json, svg: f.svg}
		err := r.watch(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), run)
		if f.rails && err == nil {
			err = printRails(cmd.OutOrStdout(), 0, rails, f.json)
		}
		return err
	}
	if status := cmd.ErrOrStderr(); isTerminal(status) {
		fmt.Fprintf(status, "rank %d of %d; rank 0 prints the results\n", comm.Rank(), comm.Size())
	}
	var rows []bench.Row
	if err := run(cmd.Context(), func(row bench.Row) { rows = append(rows, row) }, nil); err != nil {
		return err
	}
	if wrongError(rows) != nil {
		return &failure{code: exitFailed} // rank 0 reports which
	}
	return nil
}

// whereabouts names the machines that the ranks run on.
func whereabouts(comm *thunder.Comm) string {
	var names []string
	for r := range comm.Size() {
		if h := comm.Host(r); h != "" && !slices.Contains(names, h) {
			names = append(names, h)
		}
	}
	if len(names) == 0 {
		return plural.Count(comm.Size(), "rank")
	}
	return plural.Count(comm.Size(), "rank") + " on " + strings.Join(names, ", ")
}
