package fabric

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by calls on a Fabric or Link that was closed at this end.
var ErrClosed = errors.New("fabric closed")

// A LostError reports that a peer, or the path to it, is gone.
type LostError struct {
	Peer int    // rank of the peer
	Addr string // where it was reached, "" if it never was
	Err  error  // what the operating system or the peer said
}

func (e *LostError) Error() string {
	if e.Addr == "" {
		return fmt.Sprintf("lost rank %d: %v", e.Peer, e.Err)
	}
	return fmt.Sprintf("lost rank %d at %s: %v", e.Peer, e.Addr, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// A TagError reports that the message that arrived is not the one that was
// expected. Its payload was not read.
type TagError struct {
	Peer            int // rank of the sender
	Want, Got       Tag
	WantLen, GotLen uint64 // payload bytes
}

func (e *TagError) Error() string {
	if e.Want == e.Got {
		return fmt.Sprintf("message from rank %d is %d bytes long, expected %d", e.Peer, e.GotLen, e.WantLen)
	}
	return fmt.Sprintf("message from rank %d has tag %x, expected %x", e.Peer, e.Got, e.Want)
}

// A CorruptError is the cause of a LostError: what arrived is not what the peer sent.
type CorruptError struct {
	What string // the part that is damaged: "header" or "payload"
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("a message's %s was damaged on the way: its checksum differs", e.What)
}
