package local

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Defaults and limits of the durations of Config. Linger and Grace together stay below five
// seconds, the time in which a job must be gone after its first failure.
const (
	DefaultLinger = 1 * time.Second
	DefaultGrace  = 2500 * time.Millisecond
	MaxGrace      = 5 * time.Second
)

// A Config describes what Run starts.
type Config struct {
	// Argv is the program and its arguments, the same for every rank.
	Argv []string
	// Ranks is the number of copies to start.
	Ranks int
	// Env returns the variables to add to this process's environment for a rank; later
	// entries take precedence. It may be nil.
	Env func(rank int) []string
	// Dir is the working directory; "" for this process's own.
	Dir string

	// Bind gives each rank processors of its own, as other launchers do, and sets BoundEnv
	// in its environment. If there are not enough (see CanBind), ranks share them evenly:
	// without binding, the system may take seconds to balance them.
	Bind bool

	// Stdin returns the input of a rank, or nil for none. Run closes it when the rank has
	// ended, which must unblock a pending Read. It may be nil.
	Stdin func(rank int) io.ReadCloser
	// Stdout and Stderr return where a rank's lines go, or nil to discard them. They are
	// called once for each rank. They may be nil.
	Stdout, Stderr func(rank int) io.Writer

	// Linger is how long the other ranks may take to end on their own after the first
	// failure, before they are signalled; 0 selects DefaultLinger, a negative value no time
	// at all.
	Linger time.Duration
	// Grace is how long a rank may take to end after SIGTERM before it is killed; 0 selects
	// DefaultGrace, a negative value no time at all. The maximum is MaxGrace.
	Grace time.Duration
	// Keep lets the caller decide when to end the job after a failure: the other ranks keep
	// running, and only what the failed rank left behind is killed, immediately.
	Keep bool
	// Now, when closed, kills everything immediately. It may be nil.
	Now <-chan struct{}

	// Started and Exited, if not nil, are called for each rank from Run's goroutine; err is
	// nil for a rank that exited with code 0.
	Started func(rank, pid int)
	Exited  func(rank int, err *ExitError)
}

func (c *Config) validate() error {
	switch {
	case len(c.Argv) == 0 || c.Argv[0] == "":
		return errors.New("launch: no program to run")
	case c.Ranks < 1:
		return fmt.Errorf("launch: %d ranks; want 1 or more", c.Ranks)
	case c.Grace > MaxGrace:
		return fmt.Errorf("launch: grace %v is more than %v", c.Grace, MaxGrace)
	}
	c.Linger = orDefault(c.Linger, DefaultLinger)
	c.Grace = orDefault(c.Grace, DefaultGrace)
	return nil
}

func orDefault(d, def time.Duration) time.Duration {
	switch {
	case d == 0:
		return def
	case d < 0:
		return 0
	}
	return d
}
