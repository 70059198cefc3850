package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"thundercollective/internal/env"
)

// Run starts the ranks and returns when all of them, and everything they started, are gone:
// nil if every rank succeeded; *ExitError for the first that failed; *StartError if one
// could not be started; the context's cause if it ended first; *StuckError if a process
// survives SIGKILL.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.validate(); err != nil {
		return err
	}
	// Ranks inherit this: they must not use our terminal, if we have one.
	signal.Ignore(syscall.SIGTTIN, syscall.SIGTTOU)
	// The parent-death signal of a rank is tied to the thread that started it, so that
	// thread must live as long as the ranks.
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		result <- run(ctx, &cfg)
	}()
	return <-result
}

// A job is the state of one Run. Only Run's goroutine accesses it.
type job struct {
	cfg     *Config
	mark    string // the environment entry of all processes of the job
	ranks   []*rank
	watcher *watcher
	exits   chan *rank // reaped ranks, in the order they died
	alive   int        // started and not yet reaped
	killed  []*rank    // failed, and some of their processes may still exist

	mu  sync.Mutex // guards the destinations of output, and the tails
	in  sync.WaitGroup
	out sync.WaitGroup

	phase phase
	step  <-chan time.Time // fires when the next phase begins; nil while running

	first *ExitError // the first failure
	cause error      // why the job was ended before any rank failed
}

func run(ctx context.Context, cfg *Config) error {
	j := &job{cfg: cfg, mark: env.LaunchID + "=" + rand.Text(), exits: make(chan *rank, cfg.Ranks)}
	if _, err := exec.LookPath(cfg.Argv[0]); err != nil && !errors.Is(err, exec.ErrDot) {
		return &StartError{Prog: cfg.Argv[0], Err: err}
	}
	w, err := startWatcher(cfg.Grace)
	if err != nil {
		return err
	}
	j.watcher = w
	defer w.close()

	if err := j.start(); err != nil {
		j.enter(killing)
		j.supervise(context.Background())
		j.finish()
		return err
	}
	j.supervise(ctx)
	err = j.finish()
	switch {
	case j.first != nil:
		j.first.Tail = j.ranks[j.first.Rank].tail.Lines() // it is complete now
		return j.first
	case j.cause != nil:
		return j.cause
	}
	return err
}

// start starts every rank, and the one goroutine that waits for them.
func (j *job) start() error {
	w, err := newWaiter(j.cfg.Ranks)
	if err != nil {
		return fmt.Errorf("launch: wait for ranks: %w", err)
	}
	for i := range j.cfg.Ranks {
		r := newRank(j.cfg, i, j.mark, &j.mu)
		w.prepare(r)
		if err = r.start(); err != nil {
			r.closeStdin()
			err = &StartError{Rank: i, Prog: j.cfg.Argv[0], Err: err}
			break
		}
		w.started(r)
		j.watcher.watch(r.group())
		j.ranks = append(j.ranks, r)
		j.alive++
		if j.cfg.Started != nil {
			j.cfg.Started(i, r.cmd.Process.Pid)
		}
		r.pump(&j.in, &j.out) // not earlier: its output follows the report of its start
	}
	go w.wait(j.ranks, j.exits)
	return err
}
