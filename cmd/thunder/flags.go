package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/bench"
	"thundercollective/internal/env"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// workFlags select what to measure and how.
type workFlags struct {
	fabric  string
	algo    string
	dtype   string
	op      string
	root    int
	streams int
	iters   int
	warmup  int
	check   string
	noCheck bool
	sums    bool
	barrier bool
	alloc   bool
	idle    time.Duration
	explain bool
	timeout time.Duration

	size, min, max string
	factor         int
}

func (f *workFlags) addCommon(fs *pflag.FlagSet) {
	fs.StringVar(&f.dtype, "dtype", "f32", "element `TYPE`: "+join(thunder.DTypes()))
	fs.StringVar(&f.op, "op", "sum", "`REDUCTION`: "+join(thunder.Ops()))
	fs.StringVar(&f.algo, "algo", "auto", "`ALGORITHM`: "+join(algos()))
	fs.IntVar(&f.streams, "num-streams", 0, "TCP streams to each peer (default: from THUNDER_PROFILE, or by the number of processors)")
	fs.IntVar(&f.root, "root", 0, "root `RANK` of broadcast, reduce, gather and scatter")
	fs.IntVar(&f.iters, "iters", 0, "timed iterations of each size (default: as many as fit in a quarter of a second)")
	fs.IntVar(&f.warmup, "warmup", -1, "iterations before the timed ones (default: by size)")
	fs.StringVar(&f.check, "check", string(bench.CheckAll), "iterations whose results are checked, outside the timed part: all (as many as fit a second or the timed time), ends, none")
	fs.BoolVar(&f.noCheck, "no-check", false, "the same as --check none")
	fs.Lookup("no-check").Hidden = true // the older name
	fs.BoolVar(&f.sums, "checksum", false, "send a checksum with every message over TCP, on all ranks or on none (THUNDER_CHECKSUM=1)")
	fs.BoolVar(&f.barrier, "barrier-each", false, "perform a barrier before each iteration, so that the root of a broadcast cannot run ahead")
	fs.BoolVar(&f.alloc, "alloc", false, "use buffers from the fabric's own memory (Comm.Alloc)")
	fs.BoolVar(&f.explain, "explain", false, "first measure the cost of messages, then print the time predicted from it for each row")
	fs.DurationVar(&f.idle, "idle", 0, "barrier: delay the last rank by this time, and print the processor time of the waiting ranks")
	fs.DurationVar(&f.timeout, "timeout", 0, "time limit of a single operation (default 5m0s) (THUNDER_TIMEOUT)")
	fs.Lookup("iters").DefValue = "0"
	fs.Lookup("warmup").DefValue = "0"
}

func (f *workFlags) addSweep(fs *pflag.FlagSet) {
	fs.StringVar(&f.min, "min", strconv.Itoa(bench.DefaultMin), "smallest message `SIZE`: bytes, or with KiB, MiB, GiB")
	fs.StringVar(&f.max, "max", "64MiB", "largest message `SIZE`")
	fs.IntVar(&f.factor, "factor", bench.DefaultFactor, "factor from each size to the next")
	fs.StringVar(&f.size, "size", "", "a single message `SIZE` instead of --min and --max; matrix: default 4MiB")
}

// algos lists the values of --algo, Auto first.
func algos() []thunder.Algo {
	list := []thunder.Algo{thunder.Auto}
	for a := thunder.Auto + 1; a.Valid(); a++ {
		list = append(list, a)
	}
	return list
}

func join[T fmt.Stringer](list []T) string {
	return strings.Join(texts(list), " ")
}

func texts[T fmt.Stringer](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = v.String()
	}
	return out
}

// complete registers the values of the flags for shell completion.
func (f *workFlags) complete(cmd *cobra.Command) {
	for name, values := range map[string][]string{
		"dtype": texts(thunder.DTypes()), "op": texts(thunder.Ops()), "algo": texts(algos()),
		"check": {string(bench.CheckAll), string(bench.CheckEnds), string(bench.CheckNone)},
	} {
		completeFlag(cmd, name, values)
	}
}

func completeModes(cmd *cobra.Command) {
	var modes []string
	for _, m := range bench.Modes() {
		modes = append(modes, string(m)+"\t"+m.About())
	}
	completeFlag(cmd, "mode", modes)
}

func completeFlag(cmd *cobra.Command, name string, values []string) {
	// It fails only if the flag does not exist, which a test would find.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// config converts the flags to a bench.Config. fabric is the default fabric. It returns
// usage errors.
func (f *workFlags) config(fs *pflag.FlagSet, mode, fabric string) (bench.Config, error) {
	vars := &env.Reader{}
	if f.fabric == "" {
		f.fabric = cmp.Or(vars.Choice(env.Fabric), fabric)
	}
	if err := vars.Err(); err != nil {
		return bench.Config{}, &usageError{err}
	}
	cfg := bench.Config{Fabric: f.fabric, Root: f.root, Factor: f.factor, Iters: f.iters, Warmup: f.warmup, Streams: f.streams,
		BarrierEach: f.barrier, Alloc: f.alloc, Idle: f.idle, Explain: f.explain}
	var err error
	if cfg.Mode, err = bench.ParseMode(mode); err != nil {
		return cfg, &usageError{err}
	}
	if cfg.Check, err = bench.ParseCheck(f.check); err != nil {
		return cfg, usagef("--check: %w", err)
	}
	if f.noCheck {
		cfg.Check = bench.CheckNone
	}
	if cfg.DType, err = thunder.ParseDType(f.dtype); err != nil {
		return cfg, usagef("--dtype: %w", err)
	}
	if cfg.Op, err = thunder.ParseOp(f.op); err != nil {
		return cfg, usagef("--op: %w", err)
	}
	if cfg.Algo, err = thunder.ParseAlgo(f.algo); err != nil {
		return cfg, usagef("--algo: %w; want one of %s", err, join(algos()))
	}
	if fs.Changed("factor") && f.factor < 2 {
		return cfg, usagef("--factor: the factor between sizes is %d; want 2 or more", f.factor)
	}
	if fs.Changed("iters") && f.iters < 1 {
		return cfg, usagef("--iters: %d is not a number of iterations; omit it for a number that suits the size", f.iters)
	}
	if fs.Changed("warmup") && f.warmup < 0 {
		return cfg, usagef("--warmup: %d is not a number of iterations", f.warmup)
	}
	if fs.Changed("num-streams") && f.streams < 1 {
		return cfg, usagef("--num-streams: %d is not a number of streams; want 1 or more", f.streams)
	}
	if fs.Changed("timeout") && f.timeout <= 0 {
		return cfg, usagef("--timeout: %v is not a time limit; want a duration such as 90s or 5m", f.timeout)
	}
	return cfg, f.sizes(fs, &cfg)
}

func (f *workFlags) sizes(fs *pflag.FlagSet, cfg *bench.Config) error {
	if f.size == "" && cfg.Mode == bench.Matrix && !fs.Changed("max") {
		cfg.Min, cfg.Max = bench.DefaultMatrixSize, bench.DefaultMatrixSize
		return nil
	}
	if f.size != "" && (fs.Changed("min") || fs.Changed("max")) {
		return usagef("--size is one size, --min and --max are a range; use one or the other")
	}
	for _, s := range []struct {
		flag, text string
		to         *int64
	}{{"min", f.min, &cfg.Min}, {"max", f.max, &cfg.Max}, {"size", f.size, &cfg.Max}} {
		if s.text == "" {
			continue
		}
		n, err := bench.ParseSize(s.text)
		if err != nil {
			return usagef("--%s: %w", s.flag, err)
		}
		*s.to = n
	}
	if f.size != "" {
		cfg.Min = cfg.Max
	} else if !fs.Changed("min") {
		// The end of the range may be below its default start.
		cfg.Min = min(cfg.Min, cfg.Max)
	}
	return nil
}

// notEmpty returns a usage error if one of the flags was given an empty value.
func notEmpty(fs *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		if f := fs.Lookup(name); f.Changed && f.Value.String() == "" {
			return usagef("--%s is empty; omit it for this machine", name)
		}
	}
	return nil
}

// writable checks before the work, rather than after it, that a file named by a flag can be
// written. No file and "-", standard output, are fine.
func writable(flag, file string) error {
	if file == "" || file == "-" {
		return nil
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return usagef("%s: %s is a directory; name a file", flag, file)
	}
	dir := filepath.Dir(file)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return usagef("%s: directory %s of %s does not exist", flag, dir, filepath.Base(file))
	}
	if err := tryWrite(file, dir); err != nil {
		return usagef("%s: %s cannot be written: %w", flag, file, err)
	}
	return nil
}

// tryWrite opens a file that exists for writing, and otherwise makes another one beside it
// and removes it. It changes nothing.
func tryWrite(file, dir string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, os.ErrNotExist) {
		return errors.Unwrap(err)
	}
	if f, err = os.CreateTemp(dir, ".thunder-*"); err != nil {
		return errors.Unwrap(err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// checked adds the name of the flag to a *bench.ConfigError.
func checked(err error) error {
	var bad *bench.ConfigError
	if errors.As(err, &bad) {
		return usagef("--%s: %w", bad.Field, err)
	}
	return err
}
