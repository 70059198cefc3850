package local

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"thundercollective/internal/env"
)

// BoundEnv tells a rank that it has processors of its own, so that it may poll.
const BoundEnv = env.Bound + "=1"

// A rank is one started process, the leader of its own group.
type rank struct {
	index  int
	cmd    *exec.Cmd
	bindTo int  // number of ranks that share the processors; 0 not to bind
	exited bool // reaped
	gone   bool // nothing of its group is left

	stdin    io.ReadCloser // closed when the rank has ended
	inPipe   *os.File      // our end of its stdin
	outPipes []*os.File    // our ends of its stdout and stderr
	lines    []*lineWriter
	tail     *Tail
}

// newRank prepares a rank; start starts it.
func newRank(cfg *Config, index int, mark string, mu *sync.Mutex) *rank {
	r := &rank{index: index, tail: &Tail{}}
	r.cmd = exec.Command(cfg.Argv[0], cfg.Argv[1:]...)
	r.cmd.Dir = cfg.Dir
	r.cmd.Env = os.Environ()
	if cfg.Env != nil {
		r.cmd.Env = append(r.cmd.Env, cfg.Env(index)...)
	}
	r.cmd.Env = append(r.cmd.Env, mark)
	if cfg.Bind {
		r.bindTo = cfg.Ranks
		if CanBind(cfg.Ranks) {
			r.cmd.Env = append(r.cmd.Env, BoundEnv)
		}
	}
	if cfg.Stdin != nil {
		r.stdin = cfg.Stdin(index)
	}
	for _, f := range []func(int) io.Writer{cfg.Stdout, cfg.Stderr} {
		l := &lineWriter{mu: mu, tail: r.tail}
		if f != nil {
			l.w = f(index)
		}
		r.lines = append(r.lines, l)
	}
	return r
}

// start runs the process with pipes for its streams. The pipes are not those of os/exec,
// whose Wait does not return while a grandchild holds them open.
func (r *rank) start() (err error) {
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			r.closePipes()
		}
	}()
	if r.stdin != nil {
		pr, pw, err := os.Pipe()
		if err != nil {
			return err
		}
		r.cmd.Stdin, r.inPipe = pr, pw
		theirs = append(theirs, pr)
	}
	for _, dst := range []*io.Writer{&r.cmd.Stdout, &r.cmd.Stderr} {
		pr, pw, err := os.Pipe()
		if err != nil {
			return err
		}
		*dst = pw
		theirs = append(theirs, pw)
		r.outPipes = append(r.outPipes, pr)
	}
	if r.bindTo > 0 {
		return bound(r.index, r.bindTo, r.cmd.Start)
	}
	return r.cmd.Start()
}

// pump copies the rank's streams until it has ended. in counts the input stream, out the
// output streams.
func (r *rank) pump(in, out *sync.WaitGroup) {
	if r.stdin != nil {
		in.Go(func() {
			io.Copy(r.inPipe, r.stdin)
			r.inPipe.Close()
		})
	}
	for i, f := range r.outPipes {
		out.Go(func() {
			io.Copy(r.lines[i], f)
			r.lines[i].flush()
		})
	}
}

func (r *rank) closePipes() {
	if r.inPipe != nil {
		r.inPipe.Close()
	}
	for _, f := range r.outPipes {
		f.Close()
	}
}

// closeStdin unblocks the copy to the rank's stdin.
func (r *rank) closeStdin() {
	if r.stdin != nil {
		r.stdin.Close()
	}
}

// group returns the rank's process group. It stays valid after the leader was reaped as
// long as a member lives: the kernel does not reuse the number before.
func (r *rank) group() int { return r.cmd.Process.Pid }

// signal sends sig to what is left of the rank's group.
func (r *rank) signal(sig syscall.Signal) {
	if !r.gone {
		syscall.Kill(-r.group(), sig)
	}
}

// checkGone reports whether nothing of the group is left.
func (r *rank) checkGone() bool {
	if !r.gone && r.exited {
		r.gone = !groupAlive(r.group())
	}
	return r.gone
}

// result returns how the reaped rank ended, nil for success. The caller must hold the
// lines' mutex, for the tail.
func (r *rank) result() *ExitError {
	st := r.cmd.ProcessState
	if st.Success() {
		return nil
	}
	e := &ExitError{Rank: r.index, PID: st.Pid(), Code: st.ExitCode(), Tail: r.tail.Lines()}
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Signal = ws.Signal()
	}
	return e
}

func notFound(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)
}
