package local

import (
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// An ExitError reports how a rank failed.
type ExitError struct {
	Rank   int
	PID    int
	Code   int            // exit code; -1 if a signal ended it
	Signal syscall.Signal // 0 if it exited
	Tail   []string       // its last lines of output, oldest first
	Ending bool           // whether the job was already being ended: ranks had been signalled
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("rank %d %s", e.Rank, e.How())
}

// How describes how the rank ended, without its number.
func (e *ExitError) How() string {
	if e.Signal != 0 {
		return "was killed by " + unix.SignalName(e.Signal)
	}
	return fmt.Sprintf("exited with code %d", e.Code)
}

// ExitCode returns the code that a shell would report: the rank's own, or 128 plus the
// number of the signal.
func (e *ExitError) ExitCode() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Code
}

// A StartError reports that a rank could not be started.
type StartError struct {
	Rank int
	Prog string
	Err  error
}

func (e *StartError) Error() string {
	return fmt.Sprintf("start %s as rank %d: %v", e.Prog, e.Rank, e.Err)
}

func (e *StartError) Unwrap() error { return e.Err }

// ExitCode returns the code that a shell would report: 127 for a program that does not
// exist, 126 for one that cannot be run.
func (e *StartError) ExitCode() int {
	if notFound(e.Err) {
		return 127
	}
	return 126
}

// A StuckError reports that ranks still exist although they were killed, usually because
// they wait in the kernel for a device or a file server.
type StuckError struct {
	PIDs []int
}

func (e *StuckError) Error() string {
	return "still running after SIGKILL: process " + strings.Trim(fmt.Sprint(e.PIDs), "[]")
}
