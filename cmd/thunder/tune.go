package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	thunder "thundercollective"
	"thundercollective/internal/bench"
	"thundercollective/internal/plural"

	"github.com/spf13/cobra"
)

// defaultProfile is the default of --output.
const defaultProfile = "thunder-profile.json"

type tuneFlags struct {
	ranks   int
	fabrics []string
	output  string
	join    joinFlags
	work    workFlags
}

func newTuneCmd() *cobra.Command {
	f := &tuneFlags{}
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Measure the cost of messages, to choose algorithms",
		Long: `tune measures the time of a short message, of each further byte, and of reducing a
byte, and writes them to a profile (JSON). Ranks that find a profile in
THUNDER_PROFILE use it instead of rules of thumb to choose algorithms, the length of
the segments in which messages travel, and the number of TCP streams to each peer.
'thunder bench --explain' shows the effect. All ranks of a job need the same profile.
Without one, THUNDER_CALIBRATE=1 makes the first operation of a job measure the same
in about 40 ms.

Without flags tune measures ranks on this machine, over each fabric, and over TCP
with 1, 2, 4 and 8 streams. To measure between machines, start it as a rank of a job,
like 'thunder bench'; rank 0 writes the profile. If some ranks share a machine,
messages within a machine and between machines are measured separately.

Exit status: 0 on success, 1 if the run failed, 2 if the command line is invalid.`,
		Example: `  thunder tune
  THUNDER_PROFILE=thunder-profile.json thunder bench allreduce -n 4 --explain

  # between two machines
  thunder tune --rank 0 --world-size 2 --coordinator 10.0.0.1:7000 --token-file job.token`,
		Args: cobra.NoArgs,
		RunE: working(func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.IntVarP(&f.ranks, "ranks", "n", defaultRanks, "measure between `N` ranks on this machine")
	fs.StringSliceVar(&f.fabrics, "fabric", []string{"tcp", "shm"}, "comma-separated `FABRICS` to measure")
	fs.StringVarP(&f.output, "output", "o", defaultProfile, "`FILE` to write")
	fs.IntVar(&f.work.streams, "num-streams", 0, "TCP streams to each peer (default: the fastest number)")
	f.join.add(fs)
	completeFlag(cmd, "fabric", []string{"tcp", "shm"})
	return cmd
}

func (f *tuneFlags) run(cmd *cobra.Command) error {
	if err := writable("--output", f.output); err != nil {
		return err
	}
	profile := &thunder.Profile{Fabrics: map[string]thunder.Model{}}
	if f.join.joins(cmd.Flags()) {
		first, err := f.joined(cmd, profile)
		if err != nil || !first {
			return err
		}
	} else {
		if err := f.join.local(cmd.Flags()); err != nil {
			return err
		}
		for _, fabric := range f.fabrics {
			if !slices.Contains([]string{"tcp", "shm"}, fabric) {
				return usagef("--fabric: unknown fabric %q; want tcp, shm, or both", fabric)
			}
			m, err := f.best(cmd, fabric)
			if err != nil {
				return fmt.Errorf("%s: %w", fabric, err)
			}
			profile.Fabrics[fabric] = m
		}
	}
	if err := profile.Write(f.output); err != nil {
		return err
	}
	_, err := io.WriteString(cmd.OutOrStdout(), describeProfile(profile)+"Written to "+f.output+"; use it with THUNDER_PROFILE="+f.output+"\n")
	return err
}

// best measures ranks on this machine, over TCP with several numbers of streams unless one
// was given, and returns the model with the highest bandwidth.
func (f *tuneFlags) best(cmd *cobra.Command, fabric string) (thunder.Model, error) {
	if fabric != "tcp" {
		return f.local(cmd, fabric, f.work.streams)
	}
	numbers := []int{1, 2, 4, 8}
	if cmd.Flags().Changed("num-streams") {
		numbers = []int{f.work.streams}
	}
	var models []thunder.Model
	for _, n := range numbers {
		m, err := f.local(cmd, fabric, n)
		if err != nil {
			return m, err
		}
		m.Streams = n
		models = append(models, m)
	}
	return fewestStreams(models), nil
}

// fewestStreams returns the first of the models whose bandwidth is within 5 % of the best:
// more streams than necessary only cost memory.
func fewestStreams(models []thunder.Model) thunder.Model {
	least := slices.MinFunc(models, func(a, b thunder.Model) int { return cmp.Compare(a.Beta, b.Beta) })
	return models[slices.IndexFunc(models, func(m thunder.Model) bool { return m.Beta <= 1.05*least.Beta })]
}

// local measures ranks on this machine.
func (f *tuneFlags) local(cmd *cobra.Command, fabric string, streams int) (thunder.Model, error) {
	cfg := bench.Config{
		Mode: bench.Barrier, DType: thunder.F32, Op: thunder.Sum, Algo: thunder.Auto, Factor: bench.DefaultFactor,
		Iters: 1, Warmup: 0, Fabric: fabric, Streams: streams, Explain: true,
	}
	if err := checked(cfg.Validate(f.ranks)); err != nil {
		return thunder.Model{}, err
	}
	if f.ranks < 2 {
		return thunder.Model{}, usagef("-n: %d rank has no peer; want 2 or more", f.ranks)
	}
	var model *thunder.Model
	run := localRun{cfg: cfg, ranks: f.ranks}
	err := run.run(cmd.Context(), func(row bench.Row) { model = row.Model }, cmd.ErrOrStderr())
	if err != nil {
		return thunder.Model{}, err
	}
	if model == nil || !model.Valid() {
		return thunder.Model{}, errors.New("the ranks returned no measurement; run it again")
	}
	return *model, nil
}

// joined measures as one rank of a job. It returns true on the rank that writes the
// profile.
func (f *tuneFlags) joined(cmd *cobra.Command, profile *thunder.Profile) (bool, error) {
	if cmd.Flags().Changed("fabric") {
		f.work.fabric = f.fabrics[0]
	}
	comm, err := f.join.open(cmd.Context(), &f.work, cmd.ErrOrStderr())
	if err != nil {
		return false, err
	}
	defer comm.Close()
	m, err := comm.Calibrate(cmd.Context())
	if err != nil {
		return false, err
	}
	if cmd.Flags().Changed("num-streams") {
		m.Streams = f.work.streams
	}
	profile.Fabrics[comm.Fabric()] = m
	return comm.Rank() == 0, nil
}

// describeProfile describes the measurements.
func describeProfile(p *thunder.Profile) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.Fabrics)) {
		m := p.Fabrics[name]
		fmt.Fprintf(&b, "%-8s %s; reducing %.1f GB/s", name, describeLinks(&m), perMicro(m.Gamma))
		if m.Streams > 0 {
			fmt.Fprintf(&b, "; %s to a peer", plural.Count(m.Streams, "TCP stream"))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
