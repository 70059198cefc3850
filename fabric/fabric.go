// Package fabric is the contract between the collectives above and the providers below
// (internal/provider/mem, internal/provider/tcp, ...).
//
// A provider moves tagged messages between the ranks of a job. It knows nothing of
// element types, reductions or algorithms. What it offers is a Fabric: one Link, an
// ordered, reliable, full-duplex message path, to each peer on each Channel; memory
// that crosses without a copy (Alloc); and, for ranks of one machine, the Memory that
// they share, which is the only part that a provider may lack.
//
// # Sending
//
// Post starts a send and never blocks, however many messages are posted. Await returns
// when the buffers are free again. Whatever has to happen in between (a write that did not
// fit into a socket, a receiver that is late) is the provider's business: some finish the
// work inside later calls of the same rank, some inside the hardware, some in a goroutine
// of their own. A caller may rely on this alone: what it has posted moves on while it is
// in any call that waits, on any link or Memory of the same Fabric and Channel.
//
// # Receiving
//
// Recv copies a message into a buffer, RecvFunc hands out its pieces where they lie, so
// that a reduction costs one pass, and Take lends a short message where the link has read
// it to.
//
// # Stacking
//
// A Fabric may stand on another one: shared memory for the ranks of one machine on TCP or
// RDMA for the rest. It passes on everything that it does not do itself: memory of its
// own Alloc is registered with the fabric beneath (Register), so that it crosses without
// a copy there, too.
//
// Every provider passes the suite in fabric/fabrictest.
package fabric

import "context"

// TagSize is the number of bytes in a Tag.
const TagSize = 32

// A Tag travels in front of every message. The fabric does not look inside: it
// compares the tag that arrived with the one the receiver expects, and refuses
// the message with a *TagError when they differ. That is how ranks that disagree
// about what they are doing find out before a payload byte is interpreted.
type Tag [TagSize]byte

// A Channel is one of many independent conversations between the same two ranks: one
// that is blocked never delays another.
type Channel uint32

// Control is the channel for short control messages, such as heartbeats and aborts.
// Providers give it as few resources as they can: one stream, small buffers.
const Control Channel = 0

const (
	// FirstReservedChannel is the first channel that users of a fabric must not open:
	// it and all above belong to providers.
	FirstReservedChannel Channel = 1 << 30
	// ProviderChannels is the first channel that a provider may open on the fabric
	// beneath it, such as RDMA on TCP to exchange addresses.
	ProviderChannels Channel = 1 << 31
)

// A Fabric connects this rank to its peers. All methods are safe for concurrent use.
type Fabric interface {
	// Name is the provider's name as users write it: "tcp", "mem".
	Name() string
	Rank() int
	Size() int

	// Link returns the path to peer on ch, opening it on first use; both ends have to
	// ask for it. Asking twice returns the same Link. It waits for the peer until ctx
	// ends.
	Link(ctx context.Context, peer int, ch Channel) (Link, error)

	// Traffic is the sum over all links.
	Traffic() Traffic

	// Alloc returns n bytes, zeroed, aligned for every element type. They do not move,
	// and live until Free or until the Fabric is closed. They cross the fabric without
	// a copy where the provider can do that for some memory, and are ordinary memory
	// where it cannot. n is at least 1.
	Alloc(n int) ([]byte, error)
	// Free releases memory of Alloc. b must be what Alloc returned, and no call may
	// be using it.
	Free(b []byte) error

	// Register prepares memory that was allocated elsewhere for transfers without a
	// copy. A fabric that stands on this one calls it for memory of its own Alloc. It
	// does nothing where no memory needs it. The memory must stay in place until
	// Unregister.
	Register(b []byte) error
	// Unregister ends what Register of the same b began. Close ends all of it.
	Unregister(b []byte) error

	// Memory returns what the given ranks, of which this is one, can do with the memory
	// of their machine; nil if not all of them share memory. All of them have to call it
	// with the same list, and with nothing else under way on ch; all get the same answer.
	Memory(ctx context.Context, ch Channel, ranks []int) (Memory, error)

	// Close releases everything and unblocks every call, which then returns
	// ErrClosed. Messages whose send was completed are still delivered to peers that
	// are alive. No goroutine of the fabric is left when it returns.
	Close() error
}

// A Link is an ordered, reliable, full-duplex message path to one peer. One sender and
// one receiver may use it at the same time, not more.
//
// Ownership: the caller's buffers are borrowed until the call returns, those of Post
// until Await says so, and not touched afterwards. Tags are borrowed only during a call.
//
// Cancellation: when ctx ends while a call waits, the call returns context.Cause(ctx)
// soon. A message may then be half transferred, so the link is broken in that direction:
// every later call returns an error. Passing the same ctx again and again costs nothing;
// a provider registers with a context once, not once a message.
//
// Errors: *LostError when the peer or the path is gone, *TagError when the message is
// not the expected one, ErrClosed after Close. All are final.
type Link interface {
	// Post starts to send b. It never blocks, and may be called any number of times
	// before Await. If done, b may be reused; otherwise it is borrowed until Await
	// returns it. A message that is posted while an earlier one is still borrowed is
	// not done either.
	Post(tag *Tag, b []byte) (done bool, err error)

	// Await waits until at most left of the posted messages still borrow their buffer.
	// Buffers come back in the order of the posts; all of them do when it returns an
	// error. It need not look at ctx if there is nothing to wait for.
	Await(ctx context.Context, left int) error

	// Recv fills b with the next message, which must carry tag and be exactly len(b)
	// bytes long.
	Recv(ctx context.Context, tag *Tag, b []byte) error

	// RecvFunc hands the next message, which must carry tag and be exactly n bytes
	// long, to f in pieces, in place where the provider can. The pieces cover [0,n)
	// once; each starts at a multiple of PieceAlign from the start of the message; p is
	// valid until f returns. f may be called from several goroutines at once, for
	// different pieces, in any order. An error of f is returned and breaks the link.
	RecvFunc(ctx context.Context, tag *Tag, n int, f func(off int, p []byte) error) error

	// Take receives the next message, which must carry tag and be exactly n bytes long,
	// at most Borrow, without copying it. The result starts at a multiple of PieceAlign,
	// must not be written, and is valid until the next call that receives on the link. A
	// message that is there already may be taken although ctx has ended.
	Take(ctx context.Context, tag *Tag, n int) ([]byte, error)
	// Borrow returns the length of the longest message that Take takes, -1 if it takes
	// none. It does not change. It is a method of the link, not of the fabric, because
	// links of one fabric differ: shared memory has none of it, TCP beneath it may.
	Borrow() int

	// Traffic counts what has crossed this link.
	Traffic() Traffic

	// Close breaks the link at this end and unblocks its calls. Messages whose send was
	// completed are still delivered; of those that were not, the buffers are free when
	// Close and all calls have returned.
	Close() error
}

// PieceAlign is the granularity of the pieces RecvFunc hands out: no element of up to
// this many bytes is ever cut in two.
const PieceAlign = 16

// Send sends b over l and returns when b may be reused; the peer need not have received
// it. A message that the link takes at once is sent even if ctx has ended.
func Send(ctx context.Context, l Link, tag *Tag, b []byte) error {
	done, err := l.Post(tag, b)
	if err != nil || done {
		return err
	}
	return l.Await(ctx, 0)
}

// Traffic counts messages and payload bytes since the start, tags and framing not
// included.
type Traffic struct {
	SentMessages, SentBytes uint64
	RecvMessages, RecvBytes uint64
}

// Add returns the sum of both counts.
func (t Traffic) Add(u Traffic) Traffic {
	return Traffic{
		SentMessages: t.SentMessages + u.SentMessages, SentBytes: t.SentBytes + u.SentBytes,
		RecvMessages: t.RecvMessages + u.RecvMessages, RecvBytes: t.RecvBytes + u.RecvBytes,
	}
}
