package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/bench"
	"thundercollective/internal/env"
	"thundercollective/internal/launch/local"
	"thundercollective/internal/rendezvous"
)

// A localRun is a benchmark whose ranks all run on this machine: goroutines of this process
// with the fabric mem, separate processes with other fabrics.
type localRun struct {
	cfg     bench.Config
	ranks   int
	timeout time.Duration
	sums    bool                // send checksums over TCP
	started func(rank, pid int) // called for each process, unless nil
}

// run measures and calls emit with the rows of rank 0. The ranks' errors go to stderr.
func (l *localRun) run(ctx context.Context, emit func(bench.Row), stderr io.Writer) error {
	if l.cfg.Fabric == "mem" {
		return l.inProcess(ctx, emit)
	}
	// Report this once and now, rather than once for each rank.
	o := thunder.Options{Transport: thunder.Transport{Fabric: l.cfg.Fabric, Streams: l.cfg.Streams, Checksum: l.sums}, Timeout: l.timeout}
	if err := o.Validate(); err != nil {
		return err
	}
	return l.processes(ctx, emit, stderr)
}

// inProcess runs the ranks as goroutines.
func (l *localRun) inProcess(ctx context.Context, emit func(bench.Row)) error {
	group, err := thunder.Local(l.ranks, thunder.Options{Timeout: l.timeout})
	if err != nil {
		return err
	}
	defer closeAll(group)
	return runGroup(ctx, group, l.cfg, emit)
}

// runGroup measures with ranks that are all in this process.
func runGroup(ctx context.Context, group []*thunder.Comm, cfg bench.Config, emit func(bench.Row)) error {
	errs := make([]error, len(group))
	var wg sync.WaitGroup
	for i, comm := range group {
		wg.Go(func() {
			show := func(bench.Row) {}
			if i == 0 {
				show = emit
			}
			errs[i] = bench.Run(ctx, comm, cfg, show)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err // all ranks have the same error
		}
	}
	return nil
}

func closeAll(group []*thunder.Comm) {
	var wg sync.WaitGroup
	for _, comm := range group {
		wg.Go(func() { comm.Close() })
	}
	wg.Wait()
}

// exitLinger is how long ranks have to find out that another one is gone, and to report
// which, before they are ended.
const exitLinger = 5 * time.Second

// processes runs the ranks as processes of this program. They meet at a coordinator in this
// process, with a token that only they know.
func (l *localRun) processes(ctx context.Context, emit func(bench.Row), stderr io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the path of this program, to start its ranks: %w", err)
	}
	token := rand.Text()
	coord, err := openCoordinator(ctx, rendezvous.ServerConfig{Size: l.ranks, Token: []byte(token)})
	if err != nil {
		return err
	}
	defer coord.close()
	rows := &rowReader{emit: emit}
	var end firstEnd
	err = local.Run(ctx, local.Config{
		Argv:  append([]string{self}, append(rankArgs(l.cfg, l.timeout), "--checksum="+strconv.FormatBool(l.sums))...),
		Ranks: l.ranks,
		Bind:  true,
		Env: func(rank int) []string {
			return []string{
				env.Rank + "=" + strconv.Itoa(rank),
				env.LocalRank + "=" + strconv.Itoa(rank),
				env.WorldSize + "=" + strconv.Itoa(l.ranks),
				env.Coordinator + "=" + coord.addr,
				env.CoordinatorServed + "=1",
				env.Token + "=" + token,
				// Pass on nothing of a job that this process may itself belong to.
				env.TokenFile + "=", env.Hostfile + "=", env.Addr + "=", env.Edges + "=", env.Generation + "=", env.Insecure + "=",
			}
		},
		Stdout: func(rank int) io.Writer {
			if rank == 0 {
				return rows
			}
			return nil
		},
		Stderr: func(rank int) io.Writer {
			return &prefixer{ctx: ctx, w: stderr, prefix: fmt.Sprintf("rank %d: ", rank)}
		},
		Linger:  exitLinger,
		Started: l.started,
		Exited:  end.exited,
	})
	if rows.err != nil {
		return rows.err
	}
	return end.advise(err)
}

// A firstEnd finds the rank to blame. A rank that was killed takes a while to exit, and
// others that noticed may exit before it. So among the ranks that ended without being told
// to, one that was ended by a signal comes first.
type firstEnd struct {
	when time.Time // of the first failure
	by   *local.ExitError
}

func (e *firstEnd) exited(_ int, err *local.ExitError) {
	if err == nil {
		return
	}
	if e.when.IsZero() {
		e.when = time.Now()
	}
	// A rank that exits later did not end on its own.
	if e.by == nil && err.Signal != 0 && time.Since(e.when) < exitLinger {
		e.by = err
	}
}

// advise replaces the rank that err names by the rank to blame, and adds what to do about
// it.
func (e *firstEnd) advise(err error) error {
	var exit *local.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if e.by != nil {
		exit = e.by
	}
	if exit.Signal == syscall.SIGKILL {
		return fmt.Errorf("%w; unless somebody killed it, the machine ran out of memory: use a smaller --max or fewer ranks", exit)
	}
	err = fmt.Errorf("%w; see its output above", exit)
	if exit.Code == exitUsage {
		return &failure{exitUsage, err}
	}
	return err
}

// A coordinator serves the ranks of a localRun on loopback.
type coordinator struct {
	addr string
	stop context.CancelFunc
	done chan struct{}
}

// openCoordinator starts a coordinator that runs until the ranks have met, or until close.
// If they do not meet, they report it themselves.
func openCoordinator(ctx context.Context, cfg rendezvous.ServerConfig) (*coordinator, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a coordinator for the ranks: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	m := &coordinator{ln.Addr().String(), stop, make(chan struct{})}
	go func() {
		defer close(m.done)
		_ = rendezvous.Serve(ctx, ln, cfg)
	}()
	return m, nil
}

func (m *coordinator) close() {
	m.stop()
	<-m.done
}

// rankArgs returns the command line of one rank. Every setting is explicit, so that the
// ranks do what this process checked.
func rankArgs(c bench.Config, timeout time.Duration) []string {
	args := []string{
		"bench", string(c.Mode), "--json", "--fabric", c.Fabric,
		"--algo", c.Algo.String(), "--dtype", c.DType.String(), "--op", c.Op.String(), "--root", strconv.Itoa(c.Root),
		"--min", strconv.FormatInt(c.Min, 10), "--max", strconv.FormatInt(c.Max, 10), "--factor", strconv.Itoa(c.Factor),
	}
	if c.Streams > 0 {
		args = append(args, "--num-streams", strconv.Itoa(c.Streams))
	}
	if c.Iters > 0 {
		args = append(args, "--iters", strconv.Itoa(c.Iters))
	}
	if c.Warmup >= 0 {
		args = append(args, "--warmup", strconv.Itoa(c.Warmup))
	}
	if c.Check != "" {
		args = append(args, "--check", string(c.Check))
	}
	if c.BarrierEach {
		args = append(args, "--barrier-each")
	}
	if c.Alloc {
		args = append(args, "--alloc")
	}
	if c.Explain {
		args = append(args, "--explain")
	}
	if c.Idle > 0 {
		args = append(args, "--idle", c.Idle.String())
	}
	if timeout > 0 {
		args = append(args, "--timeout", timeout.String())
	}
	return args
}

// A rowReader parses lines of JSON, as rank 0 prints them, and passes them on as rows.
type rowReader struct {
	emit func(bench.Row)
	err  error
}

// Write is called with whole lines only; see package local.
func (r *rowReader) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		var row bench.Row
		if err := json.Unmarshal(line, &row); err != nil {
			r.err = fmt.Errorf("rank 0 printed an invalid result, %q: %w", bytes.TrimSpace(line), err)
			return 0, r.err
		}
		r.emit(row)
	}
	return len(p), nil
}

// A prefixer puts a prefix before every line, until ctx ends: what ranks print when they
// are told to end is not interesting. It is called with whole lines only.
type prefixer struct {
	ctx    context.Context
	w      io.Writer
	prefix string
}

func (p *prefixer) Write(b []byte) (int, error) {
	if p.ctx.Err() != nil {
		return len(b), nil
	}
	out := bufio.NewWriter(p.w)
	for line := range bytes.Lines(b) {
		out.WriteString(p.prefix)
		out.Write(line)
	}
	return len(b), out.Flush()
}
