package handshake

import (
	"errors"
	"fmt"
)

// ErrNoHello is wrapped by an error of Accept if the dialer hung up before it could be
// identified, as port scanners and health checks do.
var ErrNoHello = errors.New("it hung up before it sent a hello")

// An AuthError reports that a peer does not know the token of this job.
type AuthError struct {
	// Rank is the rank that was dialed or, at the acceptor, the rank that the peer
	// claims to be, without proof. It is -1 if unknown.
	Rank   int
	Addr   string // the peer's end of the connection
	Reason string // which check failed
}

func (e *AuthError) Error() string {
	who := "peer"
	if e.Rank >= 0 {
		who = fmt.Sprintf("rank %d", e.Rank)
	}
	return fmt.Sprintf("authentication with %s at %s failed: %s: the tokens differ; give all ranks the same token (THUNDER_TOKEN, THUNDER_TOKEN_FILE, --token-file)",
		who, e.Addr, e.Reason)
}

// A ProtocolError reports that the other end is not a thunder rank, or one of another
// version.
type ProtocolError struct {
	Addr    string // the peer's end of the connection
	Version uint16 // the peer's protocol version if it is the wrong one, else 0
	Reason  string
}

func (e *ProtocolError) Error() string { return fmt.Sprintf("peer at %s %s", e.Addr, e.Reason) }

// at sets the address, which the parsers do not know.
func (e *ProtocolError) at(addr string) *ProtocolError {
	e.Addr = addr
	return e
}

func strangerError(got []byte) *ProtocolError {
	return &ProtocolError{Reason: fmt.Sprintf("does not speak the thunder protocol (it sent %q); "+
		"another program uses that port", got)}
}

// A Code tells why an authenticated peer was refused.
type Code uint8

// The codes of a RejectedError.
const (
	codeOK          Code = iota
	WrongSize            // the ends disagree on the number of ranks
	WrongGeneration      // the dialer belongs to another incarnation of the job
	DuplicateRank        // the dialer's rank is connected already
	WrongRank            // the dialer's rank, or the one it wants, is wrong here
	Busy                 // not now; a later attempt may succeed
	RosterDiffers        // the ends were told different things about the job; see Roster
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
	case RosterDiffers:
		return "different roster"
	case Other:
		return "other"
	}
	return fmt.Sprintf("code %d", uint8(c))
}

// A RejectedError is the refusal of a peer that knows the token. An admit function
// returns one to choose what the dialer gets, and Dial returns what it got.
type RejectedError struct {
	Code Code
	Text string // at most MaxText bytes of it reach the dialer
	// Vague is set if the ends lost contact before they knew in what they differ. Another
	// connection of the same two may tell.
	Vague bool
}

func (e *RejectedError) Error() string {
	if e.Text == "" {
		return "refused: " + e.Code.String()
	}
	return "refused: " + e.Text
}
