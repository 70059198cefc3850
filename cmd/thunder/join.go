package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/bench"
	"thundercollective/internal/rendezvous"
	"thundercollective/internal/rendezvous/detect"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// joinFlags select how one rank finds the others.
type joinFlags struct {
	rank         int
	size         int
	addrs        []string
	coordinator  string
	hostfile     string
	edges        string
	tokenFile    string
	insecure     bool
	startTimeout time.Duration
}

func (f *joinFlags) add(fs *pflag.FlagSet) {
	fs.IntVar(&f.rank, "rank", rendezvous.NoRank, "this rank, from 0 (THUNDER_RANK)")
	fs.IntVar(&f.size, "world-size", 0, "number of ranks (THUNDER_WORLD_SIZE)")
	fs.StringArrayVar(&f.addrs, "addr", nil, "`HOST:PORT` of a rank, once for each rank in order; several rails separated by commas")
	fs.StringVar(&f.coordinator, "coordinator", "", "`HOST:PORT` of rank 0, where the ranks meet, instead of --addr (THUNDER_COORDINATOR)")
	fs.StringVar(&f.hostfile, "hostfile", "", "`FILE` with the addresses of all ranks, instead of --addr (THUNDER_HOSTFILE)")
	fs.StringVar(&f.edges, "edges", "", "`CABLES` between ranks or hosts, if not all are connected: 0-1,1-2@10 with rates in Gb/s; a/0-1.3=b/0-3.1 is a USB4STREAM cable (THUNDER_EDGES)")
	fs.StringVar(&f.tokenFile, "token-file", "", "`FILE` with the job's secret, the same on every rank (THUNDER_TOKEN_FILE)")
	fs.BoolVar(&f.insecure, "insecure", false, "allow connections from other machines without a token (THUNDER_INSECURE)")
	fs.DurationVar(&f.startTimeout, "start-timeout", 0, "how long to wait for the other ranks to start (default 1m0s) (THUNDER_START_TIMEOUT)")
	fs.Lookup("rank").DefValue = "0"
	fs.Lookup("world-size").DefValue = "0"
}

// given returns the first flag that makes this process a rank of a larger job, or "" if
// there is none.
func (f *joinFlags) given(fs *pflag.FlagSet) string {
	for _, name := range []string{"rank", "world-size", "addr", "coordinator", "hostfile"} {
		if fs.Changed(name) {
			return "--" + name
		}
	}
	return ""
}

// singleRank returns the first flag that is only for a rank started individually, or "" if
// there is none. Ranks started together share this machine and have a token of their own.
func (f *joinFlags) singleRank(fs *pflag.FlagSet) string {
	for _, name := range []string{"edges", "token-file", "insecure", "start-timeout"} {
		if fs.Changed(name) {
			return "--" + name
		}
	}
	return ""
}

// joins reports whether this process is one rank of a job whose ranks are started
// individually, by these flags or by a launcher.
func (f *joinFlags) joins(fs *pflag.FlagSet) bool {
	return !fs.Changed("ranks") && (f.given(fs) != "" || launched(os.Getenv))
}

// launched reports whether the environment makes this process a rank of a job. Errors in
// the environment are left for Init to report.
func launched(getenv func(string) string) bool {
	env, err := rendezvous.FromEnv(getenv)
	if err != nil || env.Way() != rendezvous.Alone || env.Rank != rendezvous.NoRank || env.Size != 0 {
		return true
	}
	source := detect.System()
	source.Getenv = getenv
	_, found, err := detect.Detect(source)
	return found || err != nil
}

// local returns a usage error if a flag contradicts starting all ranks on this machine.
func (f *joinFlags) local(fs *pflag.FlagSet) error {
	if flag := cmp.Or(f.given(fs), f.singleRank(fs)); flag != "" {
		if fs.Changed("ranks") {
			return usagef("-n starts all ranks here, %s is for a rank started individually; use one or the other", flag)
		}
		return usagef("%s is for a rank started individually; add --rank, --world-size and --coordinator, or omit it", flag)
	}
	return nil
}

// options converts the flags to the options of Init. It returns usage errors.
func (f *joinFlags) options(work *workFlags) (thunder.Options, error) {
	o := thunder.Options{
		Join:      thunder.Join{Rank: f.rank, Size: f.size, Addrs: f.addrs, Coordinator: f.coordinator, Hostfile: f.hostfile, Edges: f.edges, StartTimeout: f.startTimeout},
		Security:  thunder.Security{Insecure: f.insecure},
		Transport: thunder.Transport{Fabric: work.fabric, Streams: work.streams, Checksum: work.sums},
		Timeout:   work.timeout,
	}
	if work.fabric == "mem" {
		return o, usagef("--fabric: mem connects only ranks of one process; use tcp, or -n to start the ranks here")
	}
	if f.tokenFile != "" {
		var err error
		if o.Security.Token, err = rendezvous.ReadToken(f.tokenFile); err != nil {
			return o, usagef("--token-file: %w", err)
		}
	}
	// A rank is valid only together with the number of ranks, which a list of all ranks
	// implies.
	if o.Join.Size == 0 && f.rank != rendezvous.NoRank {
		switch {
		case f.hostfile != "":
			hosts, err := rendezvous.ReadHostfile(f.hostfile)
			if err != nil {
				return o, err
			}
			o.Join.Size = hosts.Size()
		case f.coordinator == "" && len(f.addrs) > 0:
			o.Join.Size = len(f.addrs)
		default:
			env, err := rendezvous.FromEnv(os.Getenv)
			if err != nil {
				return o, err
			}
			if o.Join.Size = env.Size; o.Join.Size == 0 {
				return o, usagef("--rank requires --world-size (THUNDER_WORLD_SIZE), the number of ranks")
			}
		}
	}
	return o, nil
}

// open makes this process a rank of its job. It shows on status that it waits for the
// others.
func (f *joinFlags) open(ctx context.Context, work *workFlags, status io.Writer) (*thunder.Comm, error) {
	o, err := f.options(work)
	if err != nil {
		return nil, err
	}
	line := newProgress(status)
	line.set("waiting for the other ranks")
	comm, err := thunder.Init(ctx, o)
	line.close()
	return comm, err
}

// toMeasure is open for a benchmark. It checks that the benchmark suits the job.
func (f *joinFlags) toMeasure(cmd *cobra.Command, work *workFlags, cfg bench.Config) (*thunder.Comm, error) {
	comm, err := f.open(cmd.Context(), work, cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	if err := checked(cfg.Validate(comm.Size())); err != nil {
		comm.Close()
		return nil, err
	}
	return comm, nil
}
