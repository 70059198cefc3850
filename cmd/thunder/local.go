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

// A localRun is a benchmark whose ranks are all on this machine: goroutines of
// this process with the fabric mem, processes of their own with the others.
type localRun struct {
	cfg     bench.Config
	ranks   int
	timeout time.Duration
	sums    bool                // messages over TCP carry checksums
	started func(rank, pid int) // told of each process, unless nil
}

// run measures and calls emit with rank 0's rows; what the ranks complain about
// goes to stderr.
func (l *localRun) run(ctx context.Context, emit func(bench.Row), stderr io.Writer) error {
	if l.cfg.Fabric == "mem" {
		return l.inProcess(ctx, emit)
	}
	// Rather once and now than by every rank.
	o := thunder.Options{Fabric: l.cfg.Fabric, Streams: l.cfg.Streams, Timeout: l.timeout, Checksum: l.sums}
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

// runGroup measures on ranks that are all in this process.
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
			return err // they all say the same
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

// exitLinger is how long ranks have to find out by themselves that another one
// is gone, and to say which, before they are ended.
const exitLinger = 5 * time.Second

// processes runs the ranks as processes of this program that meet at a
// coordinator of ours, with a secret that only they know.
func (l *localRun) processes(ctx context.Context, emit func(bench.Row), stderr io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program to start its ranks: %w", err)
	}
	token := rand.Text()
	meeting, err := openMeeting(ctx, rendezvous.ServerConfig{Size: l.ranks, Token: []byte(token)})
	if err != nil {
		return err
	}
	defer meeting.close()
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
				env.Coordinator + "=" + meeting.addr,
				env.CoordinatorServed + "=1",
				env.Token + "=" + token,
				// Nothing of a job that this process may itself be part of.
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

// A firstEnd finds the rank to blame. A rank that was killed takes its time to be
// gone, and others that noticed may be gone before it; so among those that ended
// by themselves, one that a signal ended comes first.
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
	// Later than that, it is the ranks that do not end by themselves.
	if e.by == nil && err.Signal != 0 && time.Since(e.when) < exitLinger {
		e.by = err
	}
}

// advise names the rank to blame in place of the one that err names, and says what
// to do about it.
func (e *firstEnd) advise(err error) error {
	var exit *local.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if e.by != nil {
		exit = e.by
	}
	if exit.Signal == syscall.SIGKILL {
		return fmt.Errorf("%w; if nobody did that on purpose, memory ran out: use a smaller --max or fewer ranks", exit)
	}
	err = fmt.Errorf("%w; what it said is above", exit)
	if exit.Code == exitUsage {
		return &failure{exitUsage, err}
	}
	return err
}

// A meeting is a coordinator of ours on loopback.
type meeting struct {
	addr string
	stop context.CancelFunc
	done chan struct{}
}

// openMeeting serves a coordinator until the ranks have met, or close. That they
// do not meet is for them to report.
func openMeeting(ctx context.Context, cfg rendezvous.ServerConfig) (*meeting, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a meeting point for the ranks: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	m := &meeting{ln.Addr().String(), stop, make(chan struct{})}
	go func() {
		defer close(m.done)
		_ = rendezvous.Serve(ctx, ln, cfg)
	}()
	return m, nil
}

func (m *meeting) close() {
	m.stop()
	<-m.done
}

// rankArgs is the command line of one rank. Everything is spelled out, so that
// the ranks do what this process checked.
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
	if c.NoCheck {
		args = append(args, "--no-check")
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

// A rowReader takes lines of JSON, as rank 0 prints them, and passes them on as
// rows.
type rowReader struct {
	emit func(bench.Row)
	err  error
}

// Write gets whole lines only; see package local.
func (r *rowReader) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		var row bench.Row
		if err := json.Unmarshal(line, &row); err != nil {
			r.err = fmt.Errorf("rank 0 printed %q, which is not a result: %w", bytes.TrimSpace(line), err)
			return 0, r.err
		}
		r.emit(row)
	}
	return len(p), nil
}

// A prefixer puts a prefix before every line, until ctx ends: what ranks say when
// they are told to end is no news. It gets whole lines only.
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
