package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// stepTimeout limits one step of a probe, so that a command that hangs does not cost the
// whole report.
const stepTimeout = 2500 * time.Millisecond

// Probe reads a machine. It always returns a report; Problems lists what it could not
// read.
func Probe(ctx context.Context, src Source) *Machine {
	p := &prober{ctx: ctx, src: src, m: &Machine{Schema: SchemaVersion, OS: OS{Kind: src.OS()}}}
	switch src.OS() {
	case "linux":
		p.linux()
	case "darwin":
		p.darwin()
	default:
		p.problem("this operating system", fmt.Errorf("no probes for %q", src.OS()))
	}
	p.m.join()
	return p.m
}

// A prober runs steps in parallel. Each step sets fields of its own.
type prober struct {
	ctx context.Context
	src Source
	m   *Machine
	wg  sync.WaitGroup

	mu       sync.Mutex
	problems []Problem
}

// step runs f with a deadline of its own. It reports a panic, which would be a bug in a
// parser, like anything else that cannot be read.
func (p *prober) step(what string, f func(ctx context.Context) error) {
	p.wg.Go(func() {
		ctx, cancel := context.WithTimeout(p.ctx, stepTimeout)
		defer cancel()
		defer func() {
			if r := recover(); r != nil {
				p.problem(what, fmt.Errorf("unexpected content (%v)", r))
			}
		}()
		if err := f(ctx); err != nil && !absent(err) {
			p.problem(what, err)
		}
	})
}

// command runs a command in a step of its own and passes its output to use.
func (p *prober) command(use func(b []byte) error, name string, args ...string) {
	what := strings.Join(append([]string{name}, args...), " ")
	p.step(what, func(ctx context.Context) error {
		b, err := p.src.Run(ctx, name, args...)
		if err != nil {
			return err
		}
		return use(b)
	})
}

func (p *prober) problem(what string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Joined errors are several things that could not be read.
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, e := range joined.Unwrap() {
			p.problems = append(p.problems, Problem{What: what, Why: e.Error()})
		}
		return
	}
	p.problems = append(p.problems, Problem{What: what, Why: err.Error()})
}

// wait waits for all steps.
func (p *prober) wait() {
	p.wg.Wait()
	sortProblems(p.problems)
	p.m.Problems = p.problems
}
