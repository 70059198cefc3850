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

// defaultRanks is how many local ranks a benchmark has when nothing says
// otherwise: the fewest that communicate.
const defaultRanks = 2

// defaultFabric is what a program gets that does not ask for a fabric.
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
checks every result element by element against the exactly known right answer.

Modes:
` + modeList() + `
Where the ranks are. With -n N, bench starts N ranks on this machine and ends
with them: processes, or with --fabric mem goroutines of one process. Started as a
rank of a larger job - by 'thunder launch', by mpirun, srun, torchrun or mlx.launch,
or with --rank, --world-size and one of --addr, --coordinator and --hostfile - it
joins that job; rank 0 prints the results. With neither, it starts 2 ranks on this
machine.

What carries the messages. As in a program that asks for nothing else, shared
memory between ranks of one machine, RDMA where there is some, and TCP between the
others; --fabric tcp measures TCP, on one machine too. The heading and the rows say
which it was.

What the columns mean. They are those of nccl-tests: time is the average of an
iteration over ranks and iterations; algbw is size over time; busbw is what the
links carry for that, comparable with the hardware's speed whatever the number
of ranks; #wrong counts elements that are not exactly right. min, p50 and p99
are of single iterations. size counts a block for each rank where there are
blocks (reducescatter, allgather, gather, scatter, alltoall), and is rounded up
to whole elements. ping-pong: one iteration is there and back. algo is the algorithm,
or what ranks of one machine do without messages: board, they show each other what is
short; pooled, they take what they need from each other's memory; roundtrip, they
lend each other blocks, which are added to where they lie.

matrix has a table for each of: bandwidth from one rank to another; bandwidth of
both directions together when both are used at once; round trips of 8 bytes, p50
and p99; and the number of streams. Pairs with several rails are measured over all
of them and then over each rail alone. With --json a row has from, to, algbw_gbs,
both_gbs, lat_us and streams; one of a single rail also has rail, with its index,
near and far address and device, and down if it does not work.

Exit status: 0 if all went well, 1 if the run failed or any element was wrong,
2 if the command line is not right.`,
		Example: `  # two local ranks, 4 B to 64 MiB, as a program would have it, and over TCP
  thunder bench allreduce
  thunder bench allreduce --fabric tcp

  # nine ranks in one process, one algorithm, 16-bit floats, every power of two
  thunder bench allreduce -n 9 --fabric mem --algo hd --dtype bf16 --factor 2

  # for scripts: one JSON object a row; and a picture
  thunder bench alltoall -n 4 --json --svg alltoall.svg

  # every ordered pair of ranks, and every cable where a pair has several
  thunder bench matrix -n 4 --svg matrix.svg

  # one rank on each of two machines; the token keeps strangers out
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
	fs.StringVar(&f.work.fabric, "fabric", "", "`FABRIC` that carries the messages: tcp, rdma, shm for ranks of one machine, auto for the best of them, or mem for ranks in one process (default auto) (THUNDER_FABRIC)")
	f.work.addSweep(fs)
	f.work.addCommon(fs)
	renamed(cmd, "apart", "barrier-each")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a row")
	fs.BoolVar(&f.rails, "rails", false, "print what went over each rail of rank 0, where ranks are joined by several")
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
		return usagef("give one mode, one of %s", strings.Join(names, " "))
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
		return usagef("--fabric: unknown fabric %q, want one of %s", cfg.Fabric, strings.Join(fabrics, " "))
	}
	if cfg.Fabric == "mem" {
		cfg.Streams = 1
	}
	if err := checked(cfg.Validate(ranks)); err != nil {
		return err
	}
	if need, have := cfg.Memory(ranks), availableMemory(); have > 0 && need > have {
		return usagef("%d local ranks need %s of buffers for this, and %s of memory are free; give a smaller --max or --size, or fewer ranks",
			ranks, bench.FormatSize(float64(need)), bench.FormatSize(float64(have)))
	}
	r := &report{cfg: cfg, ranks: ranks, where: plural.Count(ranks, "local rank"), json: f.json, svg: f.svg}
	run := localRun{cfg: cfg, ranks: ranks, timeout: f.work.timeout, sums: f.work.sums}
	err := r.watch(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), run.run)
	if f.rails && err == nil {
		err = printRails(cmd.OutOrStdout(), 0, nil, f.json) // there are no several on one machine
	}
	return err
}

// watch runs a benchmark under the report.
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

// joined is one rank of a job; rank 0 reports.
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
		// Nobody leaves before everybody has looked at what is still there.
		rails = comm.Rails()
		return thunder.Barrier(ctx, comm)
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
		return &failure{code: exitFailed} // rank 0 says what
	}
	return nil
}

// whereabouts says which machines the ranks are on.
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
