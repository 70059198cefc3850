package launch

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// A RankError reports the rank that failed first, and how. What ranks report about the
// cause of their failure takes precedence over the order in which they ended.
type RankError struct {
	Rank  int
	Host  string
	Code  int           // as a shell reports it
	How   string        // in words
	After time.Duration // since the start of the ranks
	Tail  []string      // its last lines of output
}

func (e *RankError) Error() string {
	return fmt.Sprintf("rank %d on %s %s", e.Rank, e.Host, e.How)
}

// ExitCode returns the rank's own exit code.
func (e *RankError) ExitCode() int { return e.Code }

// A SetupError reports that a machine cannot run its ranks. No rank was started.
type SetupError struct {
	Host   string
	Code   int
	Reason string
}

func (e *SetupError) Error() string { return e.Host + ": " + e.Reason }

// ExitCode returns 127 if the program was not found, 126 if it cannot be run, and 1
// otherwise.
func (e *SetupError) ExitCode() int { return e.Code }

// A VersionError reports that machines have different versions of thunder.
type VersionError struct {
	Hosts    []string
	Versions []string // of each host
	Paths    []string // of the binary on each host
}

func (e *VersionError) Error() string {
	var b strings.Builder
	b.WriteString("the versions of thunder differ:")
	for i, h := range e.Hosts {
		fmt.Fprintf(&b, " %s on %s (%s),", e.Versions[i], h, e.Paths[i])
	}
	return strings.TrimSuffix(b.String(), ",") + "; install the same version on all machines"
}

// An InterruptError reports that the user ended the job.
type InterruptError struct {
	Signal os.Signal
}

func (e *InterruptError) Error() string { return "ended by " + e.Signal.String() }

// ExitCode returns 128 plus the number of the signal.
func (e *InterruptError) ExitCode() int {
	if s, ok := e.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return 1
}

// A TimeoutError reports that the job exceeded its time limit.
type TimeoutError struct {
	After time.Duration
}

func (e *TimeoutError) Error() string { return fmt.Sprintf("not finished after %v", e.After) }

// ExitCode returns the exit code of timeout(1).
func (e *TimeoutError) ExitCode() int { return 124 }
