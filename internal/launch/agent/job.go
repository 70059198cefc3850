package agent

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"thundercollective/internal/blame"
	"thundercollective/internal/launch/local"
	"thundercollective/internal/launch/wire"
)

// A job is the ranks of this machine that were started together: all of them, or those that
// are restarted while the others keep running.
type job struct {
	conn   *wire.Conn
	epoch  time.Time // when the agent started
	start  wire.Start
	prep   *prepared
	dir    string   // for the job's files
	files  []string // variables for every rank
	stdin  map[int]*inbox
	ctx    context.Context
	cancel context.CancelCauseFunc
	now    chan struct{} // closed to kill
	kill   func()        // closes now once
	done   chan struct{}
}

func newJob(conn *wire.Conn, epoch time.Time, s wire.Start, p *prepared, dir string, files []string) *job {
	j := &job{conn: conn, epoch: epoch, start: s, prep: p, dir: dir, files: files, stdin: map[int]*inbox{}, now: make(chan struct{}), done: make(chan struct{})}
	j.kill = sync.OnceFunc(func() { close(j.now) })
	j.ctx, j.cancel = context.WithCancelCause(context.Background())
	for _, rank := range s.Stdin {
		j.stdin[rank] = newInbox(func(n int) {
			conn.Send(wire.KindStdinTaken, rank, wire.Taken{Bytes: n})
		})
	}
	return j
}

var errTerminated = errors.New("ended by the launcher")

// handle carries out a frame for a running job.
func (j *job) handle(f wire.Frame) {
	in := j.stdin[f.Rank]
	switch {
	case f.Kind == wire.KindTerminate:
		j.cancel(errTerminated)
	case f.Kind == wire.KindKill:
		j.kill()
	case in == nil:
	case f.Kind == wire.KindStdin:
		in.add(f.Data)
	case f.Kind == wire.KindStdinEnd:
		in.end()
	}
}

// over reports whether nothing is left of the job.
func (j *job) over() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// abandon ends the ranks after the launcher is gone, and waits for them.
func (j *job) abandon(cause error) {
	j.cancel(cause)
	late := time.AfterFunc(orphanGrace, j.kill)
	defer late.Stop()
	<-j.done
}

// run runs the ranks and reports. Sending fails only if the launcher is gone, which the
// agent's loop notices.
func (j *job) run() {
	defer close(j.done)
	defer j.cancel(nil)
	s := &j.start
	argv := slices.Clone(s.Argv)
	argv[0] = j.prep.ready.Program
	err := local.Run(j.ctx, local.Config{
		Argv:   argv,
		Ranks:  len(s.Ranks),
		Dir:    j.prep.ready.Dir,
		Env:    j.env,
		Stdin:  j.rankStdin,
		Stdout: func(i int) io.Writer { return output{j.conn, wire.KindStdout, s.Ranks[i]} },
		Stderr: func(i int) io.Writer { return output{j.conn, wire.KindStderr, s.Ranks[i]} },
		Linger: s.Linger,
		Grace:  s.Grace,
		Keep:   s.Keep,
		Now:    j.now,
		Started: func(i, pid int) {
			j.conn.Send(wire.KindStarted, s.Ranks[i], wire.Started{PID: pid, At: time.Since(j.epoch)})
		},
		Exited: func(i int, e *local.ExitError) {
			x := wire.Exited{At: time.Since(j.epoch)}
			if e != nil {
				x.Code, x.How, x.Ending = e.ExitCode(), e.How(), e.Ending
				if rank, why, ok := blame.Read(j.blameFile(i)); ok {
					x.Blames, x.Why = &rank, why
				}
			}
			j.conn.Send(wire.KindExited, s.Ranks[i], x)
		},
	})
	if !s.Keep {
		j.prep.close()
	}
	j.conn.Send(wire.KindFinished, 0, j.outcome(err))
}

// env returns the variables of the i-th rank besides the agent's own environment.
func (j *job) env(i int) []string {
	file := j.blameFile(i)
	os.Remove(file) // of its predecessor
	return slices.Concat(j.files, []string{blame.Variable + "=" + file}, j.start.Before, j.start.Env[i], j.start.After)
}

// blameFile returns the file in which the i-th rank names the rank that it blames.
func (j *job) blameFile(i int) string {
	return filepath.Join(j.dir, blame.FileName(j.start.Ranks[i]))
}

// rankStdin returns nil, not a nil *inbox, for ranks without input.
func (j *job) rankStdin(i int) io.ReadCloser {
	if in := j.stdin[j.start.Ranks[i]]; in != nil {
		return in
	}
	return nil
}

// outcome returns what the launcher cannot tell from the ranks' exits.
func (j *job) outcome(err error) wire.Failed {
	_, exit := errors.AsType[*local.ExitError](err)
	if err == nil || exit || errors.Is(err, errTerminated) || errors.Is(err, context.Canceled) {
		return wire.Failed{}
	}
	return failure(err)
}

// An output sends a rank's lines to the launcher.
type output struct {
	conn *wire.Conn
	kind wire.Kind
	rank int
}

func (o output) Write(p []byte) (int, error) {
	if err := o.conn.SendData(o.kind, o.rank, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// An inbox holds a rank's input until the rank reads it.
type inbox struct {
	taken func(n int)

	mu     sync.Mutex
	cond   sync.Cond
	buf    []byte
	ended  bool // the input has ended
	closed bool // the rank no longer reads
}

func newInbox(taken func(int)) *inbox {
	in := &inbox{taken: taken}
	in.cond.L = &in.mu
	return in
}

// add enforces the limit on pending input, whatever the launcher sends.
func (in *inbox) add(p []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.closed && len(in.buf)+len(p) <= wire.StdinWindow {
		in.buf = append(in.buf, p...)
	}
	in.cond.Broadcast()
}

func (in *inbox) end() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	in.cond.Broadcast()
}

func (in *inbox) Read(p []byte) (int, error) {
	n, err := in.read(p)
	if n > 0 {
		in.taken(n)
	}
	return n, err
}

func (in *inbox) read(p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.buf) == 0 && !in.ended && !in.closed {
		in.cond.Wait()
	}
	switch {
	case in.closed:
		return 0, os.ErrClosed
	case len(in.buf) == 0:
		return 0, io.EOF
	}
	n := copy(p, in.buf)
	in.buf = slices.Delete(in.buf, 0, n)
	return n, nil
}

// Close is called when the rank has ended.
func (in *inbox) Close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.cond.Broadcast()
	return nil
}
