package thunder

import (
	"errors"

	"thundercollective/internal/failure"
	"thundercollective/internal/rendezvous/handshake"
)

// The errors with which a job, a group or an operation ends. All ranks of a group get
// the same one, and ranks in it are those of the whole job, also in groups of Split.
type (
	// AuthError means that a peer does not know the job's token.
	AuthError = handshake.AuthError
	// OptionError means that Init does not accept an option or a THUNDER_ variable. Err
	// says what it would accept.
	OptionError = failure.OptionError
	// SettingsError is returned by Init and Reform, at both ends, when two ranks that know
	// the token cannot be in one job: they run with incompatible settings (world size,
	// fabric, checksums, profile, calibration), their address lists differ, or two
	// processes claim the same rank. Reason says in what they differ, and how to fix it.
	SettingsError = failure.SettingsError
	// PeerLostError means that rank Rank, on Host, is gone: its process ended, it was
	// stopped, or its machine or cable is down, as Cause says. All survivors name the
	// same rank. A rank that still runs but that the others could not reach gets the
	// error about itself. Left is set if the rank closed its Comm in good order, but was
	// needed.
	PeerLostError = failure.PeerLostError
	// TimeoutError means that an operation did not end in time. The rank whose deadline
	// passed first tells the others. Missing describes the ranks that had not arrived.
	TimeoutError = failure.TimeoutError
	// MismatchError means that two ranks called different things: another operation,
	// element type, count, root or order.
	MismatchError = failure.MismatchError
	// AbortError means that a rank ended the group on purpose, by cancelling the context
	// of an operation or by Abort.
	AbortError = failure.AbortError
	// QuorumError means that too few ranks are left of a group for it to be shrunk.
	QuorumError = failure.QuorumError
	// ClosedError means that the Comm was closed at this rank.
	ClosedError = failure.ClosedError
)

func badOption(format string, args ...any) error { return failure.BadOption(format, args...) }

// asSettingsError makes a *SettingsError of the refusal of a peer that knows the token,
// and returns any other error unchanged.
func asSettingsError(err error) error {
	if rejected, ok := errors.AsType[*handshake.RejectedError](err); ok {
		return &SettingsError{Reason: rejected.Text, Err: err}
	}
	return err
}
