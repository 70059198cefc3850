package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"thundercollective/internal/launch/wire"
)

// firstSilence is how long the launcher may take to send the first frame.
const firstSilence = time.Minute

// orphanGrace is the time between SIGTERM and SIGKILL when the launcher is gone. With the
// launcher's default silence of three seconds, everything is gone after four.
const orphanGrace = time.Second

// A Config has the streams and the identity of an agent.
type Config struct {
	In      io.Reader // frames from the launcher
	Out     io.Writer // frames to the launcher
	Version string    // of this binary
}

// Run serves a launcher until it goes away, or ctx ends.
func Run(ctx context.Context, cfg Config) error {
	a := &agent{epoch: time.Now(), cfg: cfg, conn: wire.NewConn(cfg.In, cfg.Out), frames: make(chan wire.Frame), silence: time.NewTimer(firstSilence), quiet: firstSilence}
	defer func() {
		if a.files != nil {
			a.files.remove()
		}
	}()
	if err := a.greet(); err != nil {
		return fmt.Errorf("agent: greet the launcher: %w", err)
	}
	// The reader cannot be waited for: a read from a pipe ends only when the other side
	// does. It has no effect after quit is closed.
	quit := make(chan struct{})
	defer close(quit)
	go a.read(quit)
	return a.loop(ctx)
}

// An agent is the state of Run. Only Run's goroutine accesses it.
type agent struct {
	epoch   time.Time
	cfg     Config
	conn    *wire.Conn
	files   *jobDir // the job's; nil until there is one, as a launcher may send Kill before that
	frames  chan wire.Frame
	silence *time.Timer
	quiet   time.Duration // the value of silence; 0 means forever

	prepared *prepared
	jobs     []*job // one for each Start
}

var errGone = errors.New("the launcher is gone")

func (a *agent) greet() error {
	if err := a.conn.Greet(); err != nil {
		return err
	}
	h := wire.Hello{Protocol: wire.Protocol, Version: a.cfg.Version, OS: runtime.GOOS, Arch: runtime.GOARCH, Addrs: addresses()}
	h.Host, _ = os.Hostname()
	h.Path, _ = os.Executable()
	if f := strings.Fields(os.Getenv("SSH_CONNECTION")); len(f) == 4 {
		h.Peer, h.Self = f[0], f[2]
	}
	return a.conn.Send(wire.KindHello, 0, h)
}

// addresses returns the addresses at which other machines may reach this one.
func addresses() []wire.Addr {
	var list []wire.Addr
	interfaces, _ := net.Interfaces()
	for _, i := range interfaces {
		addrs, _ := i.Addrs()
		for _, addr := range addrs {
			if ip, ok := addr.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
				list = append(list, wire.Addr{IP: ip.IP.String(), Interface: i.Name})
			}
		}
	}
	return list
}

func (a *agent) read(quit <-chan struct{}) {
	defer close(a.frames)
	for {
		f, err := a.conn.Next()
		if err != nil {
			return
		}
		f.Data = bytes.Clone(f.Data)
		select {
		case a.frames <- f:
		case <-quit:
			return
		}
	}
}

// next returns the next frame, or an error if the launcher is gone.
func (a *agent) next(ctx context.Context) (wire.Frame, error) {
	select {
	case f, ok := <-a.frames:
		if !ok {
			return f, errGone
		}
		a.heard()
		return f, nil
	case <-a.silence.C:
		return wire.Frame{}, fmt.Errorf("nothing heard from the launcher for %v", a.quiet)
	case <-ctx.Done():
		return wire.Frame{}, context.Cause(ctx)
	}
}

// heard restarts the wait for the next frame.
func (a *agent) heard() {
	if a.quiet > 0 {
		a.silence.Reset(a.quiet)
	} else {
		a.silence.Stop()
	}
}

func (a *agent) loop(ctx context.Context) error {
	for {
		f, err := a.next(ctx)
		if err == nil {
			err = a.handle(ctx, f)
		}
		if err != nil {
			a.release(err)
			if errors.Is(err, errGone) {
				return nil // the normal end
			}
			return fmt.Errorf("agent: %w", err)
		}
	}
}

// handle carries out a frame. Its errors end the agent; problems of the job are reported to
// the launcher instead.
func (a *agent) handle(ctx context.Context, f wire.Frame) error {
	switch f.Kind {
	case wire.KindPing:
	case wire.KindPrepare:
		var p wire.Prepare
		if err := f.Decode(&p); err != nil {
			return err
		}
		return a.prepare(ctx, p)
	case wire.KindStart:
		var s wire.Start
		if err := f.Decode(&s); err != nil {
			return err
		}
		return a.start(s)
	case wire.KindNext:
		var n wire.Next
		if a.prepared != nil && a.prepared.coordinator != nil {
			n = a.prepared.coordinator.next()
		}
		return a.conn.Send(wire.KindNext, 0, n)
	case wire.KindStdin, wire.KindStdinEnd, wire.KindTerminate, wire.KindKill:
		for _, j := range a.jobs {
			j.handle(f)
		}
	default:
		return fmt.Errorf("unexpected frame %q", f.Kind)
	}
	return nil
}

// start starts ranks that were prepared.
func (a *agent) start(s wire.Start) error {
	if a.prepared == nil {
		return errors.New("received Start before Prepare")
	}
	files, err := a.writeFiles(s.Files)
	if err != nil {
		return a.conn.Send(wire.KindFinished, 0, wire.Failed{Code: 1, Message: err.Error()})
	}
	p := a.prepared
	if !s.Keep {
		a.prepared = nil
	}
	a.jobs = slices.DeleteFunc(a.jobs, (*job).over)
	j := newJob(a.conn, a.epoch, s, p, a.files.path, files)
	a.jobs = append(a.jobs, j)
	go j.run()
	return nil
}

// writeFiles writes the job's files and returns the variables with their paths.
func (a *agent) writeFiles(files map[string]string) (env []string, err error) {
	for name, text := range files {
		path := filepath.Join(a.files.path, name)
		// Ranks started earlier may be reading it.
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			return nil, err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return nil, err
		}
		env = append(env, name+"="+path)
	}
	return env, nil
}

// release ends everything that is still there.
func (a *agent) release(cause error) {
	var all sync.WaitGroup
	for _, j := range a.jobs {
		all.Go(func() { j.abandon(cause) })
	}
	all.Wait()
	if a.prepared != nil {
		a.prepared.close()
	}
}
