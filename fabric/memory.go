package fabric

import "context"

// A Memory is what ranks of one machine can do with the memory that they share: see
// Fabric.Memory. Ranks are named by their place in the list that it was made for.
//
// There are three ways to use it. Short messages go over the Board. Long ones stay where
// they are, and every rank takes what it needs: from memory of Alloc, which peers map
// (Share, Map), or from any memory, which the system copies for them (Locate, ReadAt).
// And two ranks that reduce a vector do it in a RoundTrip.
//
// One goroutine at a time may use the Board and make round trips. Nobody ever writes to
// memory of a peer that is not of its Alloc: a rank whose operation has failed may use
// its memory for something else while a peer that does not know it yet is still at work,
// which a late read does not harm.
type Memory interface {
	// Board returns the board of these ranks.
	Board() Board

	// Share names b, which lies in memory of Alloc, to the peers; false if it does not.
	Share(b []byte) (Handle, bool)
	// Map returns the n bytes that peer has named with Share, to read and write. They
	// are there until the peer frees its memory, or the Fabric is closed. When ranks
	// access them is for the ranks to agree on, by messages.
	Map(peer int, h Handle, n int) ([]byte, error)

	// Reads reports whether all of these ranks can read all memory of each other.
	Reads() bool
	// Locate names b to the peers, if they can read it; false if its memory is of a
	// kind that cannot be read, such as that of a device. What peers read after the
	// memory is gone is undefined, or an error.
	Locate(b []byte) (Handle, bool)
	// ReadAt fills b with what lies off bytes into the memory that peer has named with
	// Locate. That takes one copy and nothing of the peer. When the peer's process is
	// gone, it returns a *LostError.
	ReadAt(peer int, h Handle, off int, b []byte) error

	// RoundTrip exchanges work with peer on their link: each lends bytes, which the
	// other changes and returns. Both have to call it with the same tag: Out of one
	// is In of the other. It is ordered like a message among those on the link, counts
	// as one each way and back, and its errors are those of a Link.
	RoundTrip(ctx context.Context, peer int, tag *Tag, t *RoundTrip) error

	// Close releases the board. It comes before Close of the Fabric.
	Close() error
}

// A Handle names memory to peers. The zero Handle names none. Its last byte is for
// those who exchange handles to use: providers leave it zero, and ignore it.
type Handle [16]byte

// A RoundTrip is what one end does in Memory.RoundTrip. A vector that two ranks reduce
// crosses between their processors once each way, where two messages would move every
// cache line twice.
//
// The functions are called from within Memory.RoundTrip, for one piece after the other,
// in order, with the offset at which it begins. The pieces of one end cover all its bytes
// and are valid until the function returns.
type RoundTrip struct {
	Out, In int                     // bytes lent to the peer, and bytes the peer lends
	Lend    func(off int, p []byte) // fills p with what is lent
	Work    func(off int, p []byte) // changes what the peer has lent
	Back    func(off int, p []byte) // gets what was lent as the peer has left it
}

// A Board is a page on which ranks that share memory post short messages for each other:
// each message is written once, for all of them to read.
//
// It is used in rounds. In a round a rank may Show one message and Look at those of
// others, and it ends the round with Next; all ranks go through the same rounds. One
// goroutine at a time may use it. Errors are final, and those of a Link.
type Board interface {
	// Room is the length of the longest message, the same at all ranks.
	Room() int
	// Free reports whether Show would not wait. It has to wait only for ranks that are
	// many rounds behind.
	Free() bool
	// Show shows b to all ranks. b may be reused when it returns.
	Show(ctx context.Context, tag *Tag, b []byte) error
	// Swap is Show for a round in which every rank shows a message of the same length
	// and looks at those of all others: it must be used by all of them or by none. A
	// rank cannot look at its own message then.
	Swap(ctx context.Context, tag *Tag, b []byte) error
	// Look waits for the message of a rank in this round, which must carry tag and be
	// exactly n bytes long. A rank may look at its own. The result is valid until Next,
	// and must not be written.
	Look(ctx context.Context, rank int, tag *Tag, n int) ([]byte, error)
	// Next ends the round.
	Next()
}
