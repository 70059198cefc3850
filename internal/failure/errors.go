package failure

import (
	"fmt"
	"strings"
	"time"
)

// An OptionError means that Init does not accept an option or a THUNDER_ variable. Err
// says what it would accept.
type OptionError struct{ Err error }

func (e *OptionError) Error() string { return "thunder: " + e.Err.Error() }
func (e *OptionError) Unwrap() error { return e.Err }

// BadOption returns an *OptionError.
func BadOption(format string, args ...any) error {
	return &OptionError{fmt.Errorf(format, args...)}
}

// A SettingsError reports that two ranks that know the token cannot be in one job.
type SettingsError struct {
	Reason string // in what they differ, and how to fix it
	Err    error
}

func (e *SettingsError) Error() string { return e.Err.Error() }
func (e *SettingsError) Unwrap() error { return e.Err }

// A PeerLostError means that a rank is gone: its process ended, it was stopped, or its
// machine or cable is down, as Cause says. All survivors name the same rank. A rank that
// still runs but that the others could not reach gets the error about itself. Ranks are
// those of the whole job, also in groups made by Split.
type PeerLostError struct {
	Rank  int
	Host  string // its machine, if known
	Link  string // how it was reached: the fabric, and an address if it has one
	Cause string // what was observed
	Left  bool   // it closed its Comm in good order, but was needed
	Err   error  // the error of the fabric at this rank, if it saw one
}

func (e *PeerLostError) Error() string {
	where := ""
	if e.Host != "" {
		where = " on " + e.Host
	}
	return fmt.Sprintf("thunder: lost rank %d%s: %s; see that rank's output for the reason", e.Rank, where, e.Cause)
}

func (e *PeerLostError) Unwrap() error { return e.Err }

// A TimeoutError means that an operation did not end in time. The rank whose deadline
// passed first tells the others, so all ranks return the same error.
type TimeoutError struct {
	Rank      int           // whose deadline passed
	Operation string        // what it was doing
	After     time.Duration // how long it had waited
	Missing   []string      // ranks that had not arrived, and where each was; cut short at other ranks
}

func (e *TimeoutError) Error() string {
	s := fmt.Sprintf("thunder: rank %d gave up on %s after %v", e.Rank, e.Operation, e.After.Round(time.Millisecond))
	if len(e.Missing) > 0 {
		s += ": " + strings.Join(e.Missing, "; ")
	}
	return s
}

// Timeout reports true, as the timeouts of package net do.
func (e *TimeoutError) Timeout() bool { return true }

// A MismatchError means that two ranks called different things: another operation,
// element type, count, root or order. All ranks of the group get it.
type MismatchError struct {
	Sequence uint64 // number of the operation in its group
	// What the two ranks called. Ranks are those of the whole job.
	RankA, RankB int
	CallA, CallB string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("thunder: ranks disagree on operation #%d: rank %d called %s, rank %d called %s", e.Sequence, e.RankA, e.CallA, e.RankB, e.CallB)
}

// An AbortError means that a rank ended the group on purpose, by cancelling the
// context of an operation or by Abort.
type AbortError struct {
	Rank   int
	Reason string
	Err    error // the context's cause, at that rank only
}

func (e *AbortError) Error() string {
	return fmt.Sprintf("thunder: rank %d aborted: %s", e.Rank, e.Reason)
}

func (e *AbortError) Unwrap() error { return e.Err }

// A QuorumError means that too few ranks are left of a group for it to be shrunk.
type QuorumError struct {
	Left, Size int
}

func (e *QuorumError) Error() string {
	return fmt.Sprintf("thunder: cannot shrink: %d of %d ranks are left, and those that are gone may be going on without them; it takes more than half, or half with rank 0", e.Left, e.Size)
}

// A ClosedError means that the Comm was closed at this rank.
type ClosedError struct{}

func (*ClosedError) Error() string { return "thunder: communicator is closed" }
