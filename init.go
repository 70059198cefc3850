package thunder

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"thundercollective/internal/collective"
	"thundercollective/internal/env"
	"thundercollective/internal/provider/stream"
	"thundercollective/internal/provider/tcp"
	"thundercollective/internal/rendezvous"
	"thundercollective/internal/rendezvous/detect"
	"thundercollective/internal/session"
	"thundercollective/internal/ticks"
	"thundercollective/internal/wiring"
)

// Init makes this process a rank of its job: it finds out who it is, meets the
// others, and returns the group of all ranks once every one of them is there. It
// gives up when ctx ends or StartTimeout has passed.
//
// Who it is comes from the options, from THUNDER_ variables (package rendezvous
// lists them), or from the launcher that started it: thunder launch, mpirun, srun,
// torchrun, mlx.launch, or Kubernetes. Without any of them it is alone.
func Init(ctx context.Context, o Options) (*Comm, error) {
	o, strangers, err := o.fromProcess()
	if err != nil {
		return nil, err
	}
	hint(o.Diagnostics.Logger, strangers)
	if err := o.checkFabric(); err != nil {
		return nil, err
	}
	cfg, err := whoAmI(o, os.Getenv)
	if err != nil {
		return nil, err
	}
	cfg.Logger = o.Diagnostics.Logger
	if cfg.StartTimeout == 0 {
		cfg.StartTimeout = rendezvous.DefaultStartTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.StartTimeout, &session.StartError{After: cfg.StartTimeout})
	defer cancel()
	// Whoever starts ranks by hand may have forgotten one, and should not have to wait for
	// the end to be told.
	var why atomic.Pointer[error] // the coordinator has not been reached
	notice := time.AfterFunc(cfg.StartTimeout/6, func() {
		log := o.Diagnostics.Logger.With("rank", cfg.Rank)
		if cfg.Size > 0 { // or the coordinator says how many there are
			log = log.With("of", cfg.Size)
		}
		if err := why.Load(); err != nil {
			log = log.With("coordinator", cfg.Coordinator, "cause", *err)
		}
		log.Warn("still waiting for the other ranks", "at_most", cfg.StartTimeout)
	})
	defer notice.Stop()
	cfg.OnRetry = func(err error) {
		first := why.Swap(&err) == nil
		// A name that does not resolve is most likely misspelt.
		if _, unknown := errors.AsType[*net.DNSError](err); unknown && first {
			notice.Reset(0)
		}
	}
	c, err := enter(ctx, o, cfg)
	return c, asSettingsError(err)
}

// enter meets the other ranks of one generation.
func enter(ctx context.Context, o Options, cfg rendezvous.Config) (*Comm, error) {
	profile, err := o.profile()
	if err != nil {
		return nil, err
	}
	if o.Transport.Streams == 0 && profile != nil {
		o.Transport.Streams = profile.Streams()
	}
	var ln *tcp.Listener
	roster, err := rendezvous.Resolve(ctx, cfg, func(at []string) ([]string, error) {
		if ln, err = tcp.Listen(at...); err != nil {
			return nil, err
		}
		return ln.Addrs(), nil
	})
	if err != nil {
		if ln != nil {
			ln.Close()
		}
		return nil, fmt.Errorf("thunder: %w", wiring.WithInterfaces(err, hostname()))
	}
	j := newJob(o, ticks.New())
	j.rank, j.generation = roster.Rank, roster.Generation
	j.log = o.Diagnostics.Logger.With("rank", roster.Rank, "generation", roster.Generation)
	j.crowded = wiring.Crowded(roster)
	j.again = func(ctx context.Context, generation uint32) (*Comm, error) {
		return enterNext(ctx, o, cfg, generation)
	}
	local := 0 // number on its machine, for the port of its metrics
	for r, p := range roster.Peers {
		// Containers of one machine, which have names of their own, may use the same ports.
		if r < roster.Rank && roster.SameMachine(r, roster.Rank) && p.Host == roster.Peers[roster.Rank].Host {
			local++
		}
		j.hosts = append(j.hosts, p.Host)
	}
	j.machines = roster.Machines()
	metricsAt, err := o.metricsAt(local)
	if err != nil {
		if ln != nil {
			ln.Close()
		}
		return nil, err
	}
	joining := &session.Joining{}
	if ln != nil {
		wc := o.wiring(cfg)
		wc.USB4, wc.Differs = stream.SystemOf(ctx), joining.Differs
		if j.wiring, err = wiring.Open(ln, roster, wc); err != nil {
			return nil, fmt.Errorf("thunder: %w", err)
		}
		j.fabric = j.wiring.Fabric()
		j.tuning.UseProfile(profile, j.fabric.Name(), o.Transport.Fabric != "tcp" && o.Transport.Fabric != "rdma", collective.NewHosts(j.machines).Mixed())
	}
	sc := j.sessionConfig(o, roster)
	sc.Joining, sc.Grace, sc.BlameFile = joining, cfg.StartTimeout, session.BlameFile(os.Getenv)
	world, err := j.start(ctx, session.New(sc), o, metricsAt)
	if err != nil && j.fabric != nil {
		j.fabric.Close()
	}
	return world, err
}

// whoAmI puts together what the options, the environment and the launcher say, in
// that order of weight.
func whoAmI(o Options, getenv func(string) string) (rendezvous.Config, error) {
	cfg, err := rendezvous.FromEnv(getenv)
	if err != nil {
		return cfg, &OptionError{Err: err}
	}
	cfg = cfg.Merge(o.place())
	if cfg.Way() != rendezvous.Alone && cfg.Rank != rendezvous.NoRank {
		return cfg, nil
	}
	source := detect.System()
	source.Getenv = getenv
	job, ok, err := detect.Detect(source)
	if err != nil {
		return cfg, &OptionError{Err: err}
	}
	if !ok {
		if err := cfg.CheckComplete(); err != nil {
			return cfg, &OptionError{Err: err}
		}
		return cfg, nil
	}
	if log := o.Diagnostics.Logger; log != nil && job.Coordinator != "" && cfg.Way() == rendezvous.Alone {
		log.Info("started by another launcher; the ranks meet at a port of their own, which "+env.Ports+" can limit",
			"launcher", job.Launcher, "rank", job.Rank, "of", job.Size, "coordinator", job.Coordinator)
	}
	base := rendezvous.Config{
		Rank: job.Rank, Size: job.Size, Coordinator: job.Coordinator, Hostfile: job.Hostfile,
		Token: job.Token, Generation: job.Generation,
	}
	return base.Merge(cfg), nil
}

// place is what the options say about finding the peers.
func (o Options) place() rendezvous.Config {
	j := o.Join
	c := rendezvous.Config{
		Rank: rendezvous.NoRank, Addrs: j.Addrs, Coordinator: j.Coordinator, Hostfile: j.Hostfile, Edges: j.Edges,
		Token: o.Security.Token, Insecure: o.Security.Insecure, StartTimeout: j.StartTimeout,
	}
	if j.Size != 0 {
		c.Rank, c.Size = j.Rank, j.Size
	}
	return c
}

// profile reads the profile that the options name; nil for none.
func (o Options) profile() (*Profile, error) {
	if o.Tuning.Profile == "" {
		return nil, nil
	}
	return ReadProfile(o.Tuning.Profile)
}

// wiring is what the options say about the fabric.
func (o Options) wiring(cfg rendezvous.Config) wiring.Config {
	t := o.Transport
	return wiring.Config{
		Fabric: t.Fabric, Token: cfg.Token, Hostfile: cfg.Hostfile, Devices: t.RDMADevices, GIDIndex: t.RDMAGID,
		Streams: t.Streams, Checksum: t.Checksum, NoPeerReads: t.NoPeerReads, NoHugePages: t.NoHugePages, Profile: o.Tuning.Profile != "", Calibrate: o.Tuning.Calibrate,
		Logger: o.Diagnostics.Logger,
	}
}
