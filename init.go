package thunder

import (
	"context"
	"fmt"
	"os"
	"time"

	"thundercollective/internal/provider/tcp"
	"thundercollective/internal/rendezvous"
	"thundercollective/internal/rendezvous/detect"
	"thundercollective/internal/ticks"
)

// Init makes this process a rank of its job: it finds out who it is, meets the
// others, and returns the group of all ranks once every one of them is there. It
// gives up when ctx ends or StartTimeout has passed.
//
// Who it is comes from the options, from THUNDER_ variables (package rendezvous
// lists them), or from the launcher that started it: thunder launch, mpirun, srun,
// torchrun, mlx.launch, or Kubernetes. Without any of them it is alone.
func Init(ctx context.Context, o Options) (*Comm, error) {
	o, err := o.complete(os.Getenv)
	if err != nil {
		return nil, err
	}
	if err := o.checkFabric(); err != nil {
		return nil, err
	}
	cfg, err := whoAmI(o, os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("thunder: %w", err)
	}
	cfg.Logger = o.Logger
	if cfg.StartTimeout == 0 {
		cfg.StartTimeout = rendezvous.DefaultStartTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.StartTimeout, &startError{cfg.StartTimeout})
	defer cancel()
	// Whoever starts ranks by hand may have forgotten one, and should not have to wait for
	// the end to be told.
	notice := time.AfterFunc(cfg.StartTimeout/6, func() {
		log := o.Logger.With("rank", cfg.Rank)
		if cfg.Size > 0 { // or the coordinator says how many there are
			log = log.With("of", cfg.Size)
		}
		log.Warn("still waiting for the other ranks", "at_most", cfg.StartTimeout)
	})
	defer notice.Stop()
	c, err := enter(ctx, o, cfg)
	return c, asSettingsError(err)
}

// enter meets the other ranks of one generation.
func enter(ctx context.Context, o Options, cfg rendezvous.Config) (*Comm, error) {
	profile, err := o.profile()
	if err != nil {
		return nil, err
	}
	if o.Streams == 0 && profile != nil {
		o.Streams = profile.Streams()
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
		return nil, fmt.Errorf("thunder: %w", withInterfaces(err))
	}
	j := &job{
		rank: roster.Rank, generation: roster.Generation, timeout: o.Timeout, algo: o.Algo,
		calibrate: o.Calibrate, segment: o.Segment, smallPages: o.SmallPages, clock: ticks.New(),
		silence: o.silenceAmong(roster.Peers), dumps: dumper{dir: o.DumpDir}, blamer: newBlamer(os.Getenv), grace: cfg.StartTimeout,
		log: o.Logger.With("rank", roster.Rank, "generation", roster.Generation),
		again: func(ctx context.Context, generation uint32) (*Comm, error) {
			return enterNext(ctx, o, cfg, generation)
		},
	}
	local := 0 // number on its machine
	for r, p := range roster.Peers {
		if r < roster.Rank && p.Host == roster.Peers[roster.Rank].Host {
			local++
		}
		j.hosts, j.addrs = append(j.hosts, p.Host), append(j.addrs, p.Addrs)
	}
	if j.metricsAt, err = o.metricsAt(local); err != nil {
		if ln != nil {
			ln.Close()
		}
		return nil, err
	}
	j.crowded = crowded(roster)
	j.streams = streamsFor(roster, o)
	if ln != nil {
		if j.wiring, err = wire(roster, cfg, o); err != nil {
			ln.Close()
			return nil, fmt.Errorf("thunder: %w", err)
		}
		if j.fab, err = openFabric(ln, j.wiring, roster, cfg, o, j.meeting.differs); err != nil {
			return nil, fmt.Errorf("thunder: %w", err)
		}
	}
	j.useProfile(profile, o)
	world, err := j.start(ctx)
	if err != nil && j.fab != nil {
		j.fab.Close()
	}
	return world, err
}

// whoAmI puts together what the options, the environment and the launcher say, in
// that order of weight.
func whoAmI(o Options, getenv func(string) string) (rendezvous.Config, error) {
	env, err := rendezvous.FromEnv(getenv)
	if err != nil {
		return env, err
	}
	cfg := env.Merge(o.place())
	if cfg.Way() != rendezvous.Alone && cfg.Rank != rendezvous.NoRank {
		return cfg, nil
	}
	source := detect.System()
	source.Getenv = getenv
	job, ok, err := detect.Detect(source)
	if err != nil || !ok {
		return cfg, err
	}
	base := rendezvous.Config{
		Rank: job.Rank, Size: job.Size, Coordinator: job.Coordinator, Hostfile: job.Hostfile,
		Token: job.Token, Generation: job.Generation,
	}
	return base.Merge(cfg), nil
}

// startError is the cause of a start that took too long.
type startError struct{ after time.Duration }

func (e *startError) Error() string {
	return fmt.Sprintf("not all ranks were there after %v; start the missing ones, or allow more time with --start-timeout (THUNDER_START_TIMEOUT)", e.after)
}

// Unwrap lets errors.Is find the usual name for it.
func (e *startError) Unwrap() error { return context.DeadlineExceeded }
