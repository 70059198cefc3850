package fabric

import "context"

// A Backlog is a Poster that takes any number of messages before Flush. It moves
// them on from within every call that waits on a link with the same Mover, so
// whoever posts and then receives needs no goroutine that sends.
type Backlog interface {
	Poster
	// Mover identifies the links whose waiting calls move these messages on. It is
	// comparable. Links of different channels or providers have different ones.
	Mover() any
	// Await waits until at most left of the posted messages have not been taken.
	// Buffers are given back in the order of the posts; all of them are when it
	// returns an error.
	Await(ctx context.Context, left int) error
}

// A Handle names memory of a Sharer to its peers. The zero Handle names none. Its last
// byte is for those who exchange handles to use: providers leave it zero, and do not
// look at it.
type Handle [16]byte

// A Sharer is an Allocator whose memory peers can read and write themselves. When
// they may is for the ranks to agree on, by messages.
type Sharer interface {
	Allocator
	// Shares says whether memory is shared with peer; it is known once a link to
	// it is open, and the same at both.
	Shares(peer int) bool
	// Share names b to peers; false if it does not lie in memory of Alloc.
	Share(b []byte) (Handle, bool)
	// Reach returns the n bytes that a peer's handle of Share names. They are there
	// until the peer frees its memory, or the Fabric is closed.
	Reach(peer int, h Handle, n int) ([]byte, error)
}

// A Reader is a Sharer whose peers can read any memory of its ranks, which takes one
// copy and nothing of the rank that is read. They can never write to it: a rank whose
// operation has failed may use its memory for something else while a peer that does not
// know it yet is still at work, which a late read does not harm.
type Reader interface {
	Sharer
	// Reads says whether this rank and peer can read each other's memory; it is known
	// once a link to it is open, and the same at both.
	Reads(peer int) bool
	// Locate names b to peers that can read it; false if its memory is of a kind that
	// cannot be read, such as that of a device. The memory stays the caller's to keep:
	// what peers read after it is gone is undefined, or an error.
	Locate(b []byte) (Handle, bool)
	// Read fills b with what lies off bytes into the memory that a peer's handle of
	// Locate names. When the peer's process is gone it returns a *LostError.
	Read(peer int, h Handle, off int, b []byte) error
}
