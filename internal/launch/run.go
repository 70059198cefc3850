package launch

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"thundercollective/internal/env"
	"thundercollective/internal/launch/hosts"
	"thundercollective/internal/launch/output"
	"thundercollective/internal/launch/remote"
	"thundercollective/internal/launch/wire"
	"thundercollective/internal/plural"
)

// Run runs a job and returns when nothing of it is left. It has reported its error on
// Output.Stderr by then; only the errors of Config.Validate must be reported by the caller,
// before it calls Run. Errors are a *RankError for the rank that failed first, a
// *remote.HostError for a machine that could not be reached or was lost, *SetupError,
// *VersionError, *InterruptError, *TimeoutError, or the context's.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	if cfg.Silence == 0 {
		cfg.Silence = DefaultSilence
	}
	if cfg.ReformWait == 0 {
		cfg.ReformWait = DefaultReformWait
	}
	place := hosts.Place(cfg.Hosts)
	for rank := range place.Ranks {
		name := machineOf(place, rank)
		cfg.Output.Hosts = append(cfg.Output.Hosts, name[strings.LastIndexByte(name, '@')+1:]) // without user name
	}
	printer, err := output.New(cfg.Output)
	if err != nil {
		fmt.Fprintf(cfg.Output.Stderr, "thunder launch: %v\n", err)
		return err
	}
	ctx, now, stop := cfg.watch(ctx)
	defer stop()
	c := newCluster(&cfg, place, printer)
	err = c.run(ctx, now)
	c.close(now)
	if logs := printer.Close(); logs != nil {
		printer.Note("%v", logs)
		err = cmp.Or(err, logs)
	}
	return err
}

// ExitCode returns the exit code for an error of Run.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err); ok {
		return e.ExitCode()
	}
	return 1
}

// watch returns a context that ends on the job's timeout or the first interrupt, and a
// channel that is closed on the second interrupt.
func (c *Config) watch(ctx context.Context) (context.Context, <-chan struct{}, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if c.Timeout > 0 {
		var free context.CancelFunc
		ctx, free = context.WithTimeoutCause(ctx, c.Timeout, &TimeoutError{After: c.Timeout})
		context.AfterFunc(ctx, free)
	}
	now, quit := make(chan struct{}), make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for n := 0; n < 2; n++ {
			select {
			case sig := <-c.Interrupts:
				if n == 0 {
					cancel(&InterruptError{Signal: sig})
				} else {
					close(now)
				}
			case <-quit:
				return
			}
		}
	})
	return ctx, now, func() {
		close(quit)
		watcher.Wait()
		cancel(nil)
	}
}

// run runs generations until one succeeds or no restart is left.
func (c *cluster) run(ctx context.Context, now <-chan struct{}) error {
	// One token for all generations: the generation's number distinguishes late ranks of
	// the previous one.
	token := rand.Text() + rand.Text()
	var ready []wire.Ready
	var number uint32
	for first := true; ; first = false {
		g := &generation{cluster: c, number: number, token: token, program: c.cfg.program(), now: now, skew: map[int]time.Duration{}}
		err := g.run(ctx, ready)
		if err == nil || c.left() == 0 || !restartable(err) || first && g.started.IsZero() {
			return err
		}
		number = max(g.number, g.latest) + 1
		if g.ready != nil {
			ready = g.ready
		}
		for m, a := range c.agents {
			if a == nil {
				ready[m] = wire.Ready{} // its files are gone
			}
		}
		c.restarts++
		c.printer.Note("restart %d of %d: all ranks start again in generation %d", c.restarts, c.cfg.Restarts, number)
		if err := c.printer.Generation(c.restarts); err != nil {
			return err
		}
	}
}

// restartable reports whether err may be temporary: not requested by the user, and not
// certain to happen again.
func restartable(err error) bool {
	_, failed := errors.AsType[*RankError](err)
	_, lost := errors.AsType[*remote.HostError](err)
	return failed || lost
}

// run runs one generation and reports how it failed.
func (g *generation) run(ctx context.Context, again []wire.Ready) error {
	err := g.tryRun(ctx, again)
	g.printer.Status("")
	if re, ok := errors.AsType[*RankError](err); ok {
		re.Tail = g.printer.Tail(re.Rank)
	}
	if err != nil {
		g.summarize(err)
	}
	return err
}

func (g *generation) tryRun(ctx context.Context, again []wire.Ready) error {
	g.printer.Status("connecting to " + plural.Count(len(g.place.Machines), "machine"))
	if err := g.connect(ctx); err != nil {
		return err
	}
	g.printer.Status("preparing")
	if len(g.cfg.Copy) > 0 && len(again) == 0 {
		g.printer.Status("copying to " + plural.Count(len(g.place.Machines), "machine"))
	}
	if err := g.prepare(ctx, again); err != nil {
		return err
	}
	if err := g.start(); err != nil {
		return err
	}
	return g.supervise(ctx)
}

// showProgress updates the progress line.
func (g *generation) showProgress() {
	running := 0
	for i := range g.ranks {
		if !g.ranks[i].ended {
			running++
		}
	}
	s := fmt.Sprintf("%s on %s, %v", plural.Count(len(g.ranks), "rank"), plural.Count(len(g.place.Machines), "machine"), time.Since(g.started).Round(time.Second))
	if running < len(g.ranks) {
		s += fmt.Sprintf(", %d still running", running)
	}
	if g.restarts > 0 {
		s += fmt.Sprintf(", restart %d", g.restarts)
	}
	g.printer.Status(s)
}

// workingDir returns the working directory, or "" if it no longer exists.
func workingDir() string {
	dir, _ := os.Getwd()
	return dir
}

// passedOn returns the variables of this process that ranks on other machines get as well:
// those that the user set for this project. The job's own variables take precedence.
func passedOn() []string {
	var list []string
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, env.Prefix) && !strings.HasPrefix(kv, env.Token) {
			list = append(list, kv)
		}
	}
	return list
}
