package local

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"
	"time"
)

// Limits for what no signal can speed up: how long Run waits for ranks that it killed, for
// other processes that it killed, and for output whose pipe a process outside the job holds
// open.
const (
	stuckAfter = 5 * time.Second
	drainLimit = 1 * time.Second
	pollEvery  = 10 * time.Millisecond
)

// A phase is how far the end of a job has progressed. It only increases.
type phase int

const (
	running     phase = iota
	lingering         // a rank failed; the others may end on their own
	terminating       // SIGTERM was sent
	killing           // SIGKILL was sent
	stuck             // and did not help
)

func (j *job) enter(p phase) {
	if p <= j.phase {
		return
	}
	j.phase = p
	switch p {
	case lingering:
		j.step = time.After(j.cfg.Linger)
	case terminating:
		j.signal(syscall.SIGTERM)
		j.step = time.After(j.cfg.Grace)
	case killing:
		j.signal(syscall.SIGKILL)
		j.step = time.After(stuckAfter)
	case stuck:
		j.cause = j.stuckRanks()
	}
}

// supervise returns when nothing is left of any rank's group, or when what is left cannot
// be killed.
func (j *job) supervise(ctx context.Context) {
	done, now := ctx.Done(), j.cfg.Now
	for j.phase < stuck {
		// The kernel reports the end of a rank, but not the end of its group.
		var poll <-chan time.Time
		if j.alive == 0 {
			if j.allGone() {
				return
			}
			j.enter(terminating)
			poll = time.After(pollEvery)
		} else if j.leftovers() {
			poll = time.After(10 * pollEvery)
		}
		select {
		case r := <-j.exits:
			switch failed := j.reaped(r); {
			case failed && j.cfg.Keep:
				r.signal(syscall.SIGKILL) // it must not disturb its successor
				j.killed = append(j.killed, r)
			case failed:
				j.enter(lingering)
			}
		case <-done:
			done = nil
			j.interrupted(context.Cause(ctx))
			j.enter(terminating)
		case <-now:
			now = nil
			j.interrupted(context.Canceled)
			j.enter(killing)
		case <-j.step:
			j.enter(j.phase + 1)
		case <-poll:
		}
	}
}

// interrupted records why the job ends, unless a rank has failed before.
func (j *job) interrupted(cause error) {
	if j.first == nil && j.cause == nil {
		j.cause = cause
	}
}

// reaped records the end of a rank and reports whether it failed.
func (j *job) reaped(r *rank) (failed bool) {
	r.exited = true
	j.alive--
	r.closeStdin()
	if r.checkGone() {
		j.watcher.forget(r.group())
	}
	j.mu.Lock()
	e := r.result()
	j.mu.Unlock()
	if e != nil {
		e.Ending = j.phase >= terminating
	}
	// A rank that dies after the first signal was sent is not the cause.
	if e != nil && j.first == nil && j.cause == nil {
		j.first = e
	}
	if j.cfg.Exited != nil {
		j.cfg.Exited(r.index, e)
	}
	return e != nil
}

func (j *job) signal(sig syscall.Signal) {
	for _, r := range j.ranks {
		r.signal(sig)
		if sig != syscall.SIGKILL {
			r.signal(syscall.SIGCONT) // a stopped process would not receive it
		}
	}
}

// leftovers reports whether processes of a failed rank that were killed still exist. Groups
// that are gone are removed: their numbers may be reused soon.
func (j *job) leftovers() bool {
	j.killed = slices.DeleteFunc(j.killed, func(r *rank) bool {
		if r.checkGone() {
			j.watcher.forget(r.group())
		}
		return r.gone
	})
	return len(j.killed) > 0
}

func (j *job) allGone() bool {
	gone := true
	for _, r := range j.ranks {
		gone = r.checkGone() && gone
	}
	return gone
}

// stuckRanks returns nil if only background processes are left: they were killed, and stay
// visible forever if nobody reaps orphans.
func (j *job) stuckRanks() error {
	var pids []int
	for _, r := range j.ranks {
		if !r.exited {
			pids = append(pids, r.cmd.Process.Pid)
		}
	}
	if len(pids) == 0 {
		return j.cause
	}
	return &StuckError{PIDs: pids}
}

// finish ends processes that left their rank's group, and delivers the rest of the output.
func (j *job) finish() error {
	sweep(j.mark)
	for _, r := range j.ranks {
		j.watcher.forget(r.group())
	}
	drained := make(chan struct{})
	go func() {
		j.out.Wait()
		close(drained)
	}()
	select {
	case <-drained:
	case <-time.After(drainLimit):
	}
	var errs []error
	for _, r := range j.ranks {
		r.closeStdin()
		r.closePipes()
	}
	<-drained
	j.in.Wait()
	for _, r := range j.ranks {
		for _, l := range r.lines {
			errs = append(errs, l.err)
		}
	}
	return errors.Join(errs...)
}

// sweep kills the processes that have mark in their environment, until there are none: they
// may fork in the meantime.
func sweep(mark string) {
	for deadline := time.Now().Add(drainLimit); time.Now().Before(deadline); time.Sleep(pollEvery) {
		pids := marked(mark)
		for _, pid := range pids {
			if pid != os.Getpid() {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if len(pids) == 0 {
			return
		}
	}
}
