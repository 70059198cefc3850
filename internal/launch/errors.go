package launch

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// A RankError names the rank that failed first, and how. Where ranks say themselves because
// of whom they fail, that counts for more than when they ended.
type RankError struct {
	Rank  int
	Host  string
	Code  int           // as a shell reports it
	How   string        // in words
	After time.Duration // since the ranks were started
	Tail  []string      // its last lines of output
}

func (e *RankError) Error() string {
	return fmt.Sprintf("rank %d on %s %s", e.Rank, e.Host, e.How)
}

// ExitCode is the rank's own exit code.
func (e *RankError) ExitCode() int { return e.Code }

// A SetupError says that a machine cannot run its ranks. None was started.
type SetupError struct {
	Host   string
	Code   int
	Reason string
}

func (e *SetupError) Error() string { return e.Host + ": " + e.Reason }

// ExitCode is 127 when the program was not found, 126 when it cannot be run, and
// 1 for everything else.
func (e *SetupError) ExitCode() int { return e.Code }

// A VersionError says that machines have different versions of thunder.
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
	return strings.TrimSuffix(b.String(), ",") + "; install the same on all machines"
}

// An InterruptError says that the user ended the job.
type InterruptError struct {
	Signal os.Signal
}

func (e *InterruptError) Error() string { return "ended by " + e.Signal.String() }

// ExitCode is 128 plus the number of the signal.
func (e *InterruptError) ExitCode() int {
	if s, ok := e.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return 1
}

// A TimeoutError says that the job took longer than it may.
type TimeoutError struct {
	After time.Duration
}

func (e *TimeoutError) Error() string { return fmt.Sprintf("not done after %v", e.After) }

// ExitCode is that of timeout(1).
func (e *TimeoutError) ExitCode() int { return 124 }
