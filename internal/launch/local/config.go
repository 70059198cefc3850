package local

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Defaults and bounds of Config's durations. Linger and Grace together stay
// under the five seconds in which a job has to be gone after its first failure.
const (
	DefaultLinger = 1 * time.Second
	DefaultGrace  = 2500 * time.Millisecond
	MaxGrace      = 5 * time.Second
)

// A Config says what Run starts.
type Config struct {
	// Argv is the program and its arguments, the same for every rank.
	Argv []string
	// Ranks is how many copies to start.
	Ranks int
	// Env returns what to add to this process's environment for a rank; later
	// entries win. May be nil.
	Env func(rank int) []string
	// Dir is the working directory; "" is this process's own.
	Dir string

	// Bind gives each rank processors of its own, as other launchers do, and says
	// so in its environment (BoundEnv). Where there are not enough, see CanBind, ranks
	// share them evenly: left alone, the system may take seconds to see to that.
	Bind bool

	// Stdin returns what a rank reads, or nil for nothing. Run closes it when
	// the rank has ended, which must unblock a pending Read. May be nil.
	Stdin func(rank int) io.ReadCloser
	// Stdout and Stderr return where a rank's lines go, or nil to drop them.
	// They are called once per rank. May be nil.
	Stdout, Stderr func(rank int) io.Writer

	// Linger is how long the others may take to end by themselves after the
	// first failure before they are signalled; 0 is DefaultLinger, negative
	// none at all.
	Linger time.Duration
	// Grace is how long a rank may take from SIGTERM to its end before it is
	// killed; 0 is DefaultGrace, at most MaxGrace, negative none at all.
	Grace time.Duration
	// Keep leaves it to the caller to end the job after a failure: the others run
	// on, and only what the failed rank left behind is killed, at once.
	Keep bool
	// Now, when closed, kills everything at once. May be nil.
	Now <-chan struct{}

	// Started and Exited, when not nil, are told of each rank from Run's
	// goroutine; err is nil for a rank that exited with code 0.
	Started func(rank, pid int)
	Exited  func(rank int, err *ExitError)
}

func (c *Config) validate() error {
	switch {
	case len(c.Argv) == 0 || c.Argv[0] == "":
		return errors.New("launch: no program to run")
	case c.Ranks < 1:
		return fmt.Errorf("launch: %d ranks, need at least 1", c.Ranks)
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
