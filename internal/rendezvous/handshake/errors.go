package handshake

import (
	"errors"
	"fmt"
)

// ErrNoHello is the cause of an error of Accept when the other end went away before it
// had said what it is, as those do who only look whether somebody listens.
var ErrNoHello = errors.New("it went away without a hello")

// An AuthError says that a peer does not know the token of this job.
type AuthError struct {
	// Rank is the peer: the one that was dialed, or the one that the peer
	// claimed to be, which nothing has proved; -1 if unknown.
	Rank   int
	Addr   string // the peer's end of the connection
	Reason string // which check failed
}

func (e *AuthError) Error() string {
	who := "peer"
	if e.Rank >= 0 {
		who = fmt.Sprintf("rank %d", e.Rank)
	}
	return fmt.Sprintf("authentication with %s at %s failed: %s: token differs; give all ranks the same (THUNDER_TOKEN, THUNDER_TOKEN_FILE, --token-file)",
		who, e.Addr, e.Reason)
}

// A ProtocolError says that what is at the other end is not a thunder rank, or
// one of another version.
type ProtocolError struct {
	Addr    string // the peer's end of the connection
	Version uint16 // the peer's protocol version if that is the trouble, else 0
	Reason  string
}

func (e *ProtocolError) Error() string { return fmt.Sprintf("peer at %s %s", e.Addr, e.Reason) }

// at fills in the address; the parsers do not know it.
func (e *ProtocolError) at(addr string) *ProtocolError {
	e.Addr = addr
	return e
}

func strangerError(got []byte) *ProtocolError {
	return &ProtocolError{Reason: fmt.Sprintf("does not speak the thunder protocol (it sent %q); "+
		"another program uses that port", got)}
}

// A Code says why an authenticated peer was refused.
type Code uint8

// The codes of a RejectedError.
const (
	codeOK          Code = iota
	WrongSize            // the ends disagree on the number of ranks
	WrongGeneration      // the dialer belongs to another incarnation of the job
	DuplicateRank        // the dialer's rank is taken
	WrongRank            // the dialer's rank, or the one it wants, makes no sense here
	Busy                 // not now; trying again may help
	Other                // see the text
	codeAuth             // the proof was wrong; becomes an AuthError
	codeLast        = codeAuth
)

func (c Code) String() string {
	switch c {
	case WrongSize:
		return "wrong size"
	case WrongGeneration:
		return "wrong generation"
	case DuplicateRank:
		return "duplicate rank"
	case WrongRank:
		return "wrong rank"
	case Busy:
		return "busy"
	case Other:
		return "other"
	}
	return fmt.Sprintf("code %d", uint8(c))
}

// A RejectedError is the refusal of a peer that proved to know the token. An
// admit function returns one to choose what the dialer is told; Dial returns the
// one it was told.
type RejectedError struct {
	Code Code
	Text string // at most MaxText bytes of it reach the dialer
}

func (e *RejectedError) Error() string {
	if e.Text == "" {
		return "refused: " + e.Code.String()
	}
	return "refused: " + e.Text
}
