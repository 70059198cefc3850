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
	greetTimeout = connectTimeout + 10*time.Second // for ssh, shell and agent to come up
	lastWords    = 500 * time.Millisecond          // for ssh to say why it ends
	pingEvery    = time.Second
)

// A Config says how agents are started.
type Config struct {
	Agent   []string // command line of an agent on this machine
	SSH     []string // ssh and its options; nil is the system's ssh
	Thunder string   // where thunder is on other machines; "" is to look for it
}

// An Agent is a started agent that has introduced itself.
type Agent struct {
	*wire.Conn
	Host  string // as the user calls it
	Hello wire.Hello

	cmd    *exec.Cmd
	stdin  io.Closer
	stdout *os.File
	stderr *tailBuffer
	noise  string        // what came in place of a greeting
	exited chan struct{} // closed when the process was reaped
	once   sync.Once
	quit   chan struct{} // ends the pings
	pings  sync.WaitGroup
}

// Start starts an agent on machine m. An error is a *HostError, or the context's.
func (c *Config) Start(ctx context.Context, m hosts.Machine) (*Agent, error) {
	argv := c.Agent
	if !m.Local {
		argv = c.Command(m.Name)
	}
	a := &Agent{Host: m.Name, stderr: &tailBuffer{}, exited: make(chan struct{}), quit: make(chan struct{})}
	a.cmd = exec.Command(argv[0], argv[1:]...)
	a.cmd.Stderr = a.stderr
	// A session of its own: Ctrl-C is ours to pass on, and there is no terminal
	// that ssh could ask on.
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// Something that ssh leaves in the background may hold its stderr.
	a.cmd.WaitDelay = lastWords
	stdin, err := a.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Unlike os/exec's, this pipe stays ours to read after the process has ended.
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

// hangUp waits a moment for the greeting of a process that has ended, and no longer:
// something that it left in the background may hold its end of the stream. That is
// ended, too.
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
		return fmt.Errorf("agent began with frame %q", f.Kind)
	}
	if err := f.Decode(&a.Hello); err != nil {
		return err
	}
	if a.Hello.Protocol != wire.Protocol {
		return &HostError{Host: a.Host, Reason: fmt.Sprintf("thunder %s there speaks another protocol (%d, not %d)", a.Hello.Version, a.Hello.Protocol, wire.Protocol), Advice: "install the same version on all machines"}
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

// Lost says why the agent's stream ended. It is to be called when Next fails.
func (a *Agent) Lost(err error) *HostError {
	a.await(lastWords)
	e := diagnose(a.Host, a.stderr.String(), err)
	if e.Reason == noAgent {
		e.Reason = "lost the agent there"
	}
	return e
}

// Close tells the agent that it is no longer needed and gives it limit to end. A
// pending Next returns at the latest when Close does.
func (a *Agent) Close(limit time.Duration) {
	a.once.Do(func() {
		close(a.quit)
		a.stdin.Close()
		a.await(limit)
		a.stdout.Close()
		a.pings.Wait()
	})
}

// await waits for the end of the process and kills it, and what it started, such
// as a proxy command, when that takes too long.
func (a *Agent) await(limit time.Duration) {
	late := time.AfterFunc(limit, func() { syscall.Kill(-a.cmd.Process.Pid, syscall.SIGKILL) })
	<-a.exited
	late.Stop()
}

// A tailBuffer keeps the last of what is written to it.
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
