package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"thundercollective/internal/launch/hosts"
	"thundercollective/internal/launch/wire"
)

const (
	greetTimeout = connectTimeout + 10*time.Second // time for ssh, shell and agent to start
	lastWords    = 500 * time.Millisecond          // time for ssh to report why it ended
	pingEvery    = time.Second
)

// A Config configures how agents are started.
type Config struct {
	Agent   []string // command line of an agent on this machine
	SSH     []string // ssh and its options; nil for the system's ssh
	Thunder string   // path of thunder on other machines; "" to search for it
}

// An Agent is a running agent that has introduced itself.
type Agent struct {
	*wire.Conn
	Host  string // the user's name for it
	Hello wire.Hello

	cmd    *exec.Cmd
	stdin  io.Closer
	stdout *os.File
	stderr *tailBuffer
	noise  string        // what was received instead of a greeting
	exited chan struct{} // closed when the process was reaped
	once   sync.Once
	quit   chan struct{} // ends the pings
	pings  sync.WaitGroup
}

// Start starts an agent on machine m. Its error is a *HostError, or the context's.
func (c *Config) Start(ctx context.Context, m hosts.Machine) (*Agent, error) {
	argv := c.Agent
	if !m.Local {
		argv = c.Command(m.Name)
	}
	a := &Agent{Host: m.Name, stderr: &tailBuffer{}, exited: make(chan struct{}), quit: make(chan struct{})}
	a.cmd = exec.Command(argv[0], argv[1:]...)
	a.cmd.Stderr = a.stderr
	// In a session of its own: the launcher passes on Ctrl-C itself, and ssh has no
	// terminal to ask on.
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// A process that ssh leaves in the background may hold its stderr open.
	a.cmd.WaitDelay = lastWords
	stdin, err := a.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Unlike a pipe of os/exec, this one can be read after the process has ended.
	stdout, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	a.cmd.Stdout = theirs
	err = a.cmd.Start()
	theirs.Close()
	if err != nil {
		stdout.Close()
		return nil, &HostError{Host: m.Name, Reason: noAgent, Detail: err.Error(), Err: err}
	}
	go func() {
		a.cmd.Wait()
		close(a.exited)
	}()
	a.stdin, a.stdout, a.Conn = stdin, stdout, wire.NewConn(stdout, stdin)
	if err := a.greet(ctx); err != nil {
		stdout.Close()
		return nil, err
	}
	a.pings.Go(a.ping)
	return a, nil
}

// greet waits for the agent to introduce itself.
func (a *Agent) greet(ctx context.Context) error {
	greeting := make(chan error, 1)
	go func() { greeting <- a.awaitHello() }()
	timeout := time.NewTimer(greetTimeout)
	defer timeout.Stop()
	var err error
	select {
	case err = <-greeting:
	case <-a.exited:
		err = a.hangUp(greeting)
	case <-timeout.C:
		a.await(0)
		a.hangUp(greeting)
		return &HostError{Host: a.Host, Reason: fmt.Sprintf("no answer from an agent in %v", greetTimeout), Detail: lastLine(a.stderr.String())}
	case <-ctx.Done():
		a.await(0)
		a.hangUp(greeting)
		return context.Cause(ctx)
	}
	if err == nil {
		return nil
	}
	a.await(lastWords)
	if he, ok := errors.AsType[*HostError](err); ok {
		return he
	}
	return diagnose(a.Host, cmp.Or(a.stderr.String(), a.noise), err)
}

// hangUp waits a moment for the greeting of a process that has ended. A process that it
// left in the background may hold the stream open; hangUp ends that as well.
func (a *Agent) hangUp(greeting <-chan error) error {
	late := time.AfterFunc(lastWords, func() {
		syscall.Kill(-a.cmd.Process.Pid, syscall.SIGKILL)
		a.stdout.Close()
	})
	defer late.Stop()
	return <-greeting
}

func (a *Agent) awaitHello() error {
	noise, err := a.AwaitGreeting()
	if err != nil {
		a.noise = string(noise)
		return err
	}
	f, err := a.Next()
	if err != nil {
		return err
	}
	if f.Kind != wire.KindHello {
		return fmt.Errorf("agent started with frame %q", f.Kind)
	}
	if err := f.Decode(&a.Hello); err != nil {
		return err
	}
	if a.Hello.Protocol != wire.Protocol {
		return &HostError{Host: a.Host, Reason: fmt.Sprintf("thunder %s there uses a different protocol (%d, not %d)", a.Hello.Version, a.Hello.Protocol, wire.Protocol), Advice: "install the same version on all machines"}
	}
	return nil
}

func (a *Agent) ping() {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if a.Send(wire.KindPing, 0, nil) != nil {
				return
			}
		case <-a.quit:
			return
		}
	}
}

// Lost returns why the agent's stream ended. Call it when Next fails.
func (a *Agent) Lost(err error) *HostError {
	a.await(lastWords)
	e := diagnose(a.Host, a.stderr.String(), err)
	if e.Reason == noAgent {
		e.Reason = "lost the agent"
	}
	return e
}

// Close tells the agent that it is no longer needed and gives it limit to exit. A pending
// Next returns before Close does.
func (a *Agent) Close(limit time.Duration) {
	a.once.Do(func() {
		close(a.quit)
		a.stdin.Close()
		a.await(limit)
		a.stdout.Close()
		a.pings.Wait()
	})
}

// await waits for the process to end. If that takes too long, it kills the process and what
// it started, such as a proxy command.
func (a *Agent) await(limit time.Duration) {
	late := time.AfterFunc(limit, func() { syscall.Kill(-a.cmd.Process.Pid, syscall.SIGKILL) })
	<-a.exited
	late.Stop()
}

// A tailBuffer keeps the last bytes written to it.
type tailBuffer struct {
	mu  sync.Mutex
	buf []byte
}

func (b *tailBuffer) Write(p []byte) (int, error) {
	const keep = 4 << 10
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf = append(b.buf, p...)
	if n := len(b.buf); n > keep {
		b.buf = append([]byte{}, b.buf[n-keep:]...)
	}
	return len(p), nil
}

func (b *tailBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.buf)
}
