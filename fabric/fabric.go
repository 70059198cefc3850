// Package fabric is the contract between the collectives above and the
// providers below (internal/provider/mem, internal/provider/tcp, ...).
//
// A provider moves tagged messages between the ranks of a job. It knows nothing
// of element types, reductions or algorithms; what it offers is an ordered,
// reliable, full-duplex path to each peer on each channel. Every provider passes
// the suite in fabric/fabrictest.
package fabric

import "context"

// TagSize is the number of bytes in a Tag.
const TagSize = 32

// A Tag travels in front of every message. The fabric does not look inside: it
// compares the tag that arrived with the one the receiver expects, and refuses
// the message with a *TagError when they differ. That is how ranks that disagree
// about what they are doing find out before a payload byte is interpreted.
type Tag [TagSize]byte

// A Channel keeps independent conversations between the same two ranks apart:
// one that is blocked never holds another back.
type Channel uint32

// UserChannels is the first of the channels that whoever uses a fabric must leave alone.
const UserChannels Channel = 1 << 30

// ProviderChannels is the first of the channels that a provider may use on another
// one beneath it, such as RDMA on TCP to exchange addresses.
const ProviderChannels Channel = 1 << 31

// Control is the channel for small out-of-band messages (life, death, aborts).
// Providers give it the least they can: one stream, small buffers.
const Control Channel = 0

// A Fabric joins this process to its peers.
type Fabric interface {
	// Name is the provider's name as users write it: "tcp", "mem".
	Name() string
	Rank() int
	Size() int

	// Link returns the path to peer on ch, opening it on first use; both ends
	// have to ask for it. Asking twice returns the same Link. It waits for the
	// peer until ctx ends. Safe for concurrent use.
	Link(ctx context.Context, peer int, ch Channel) (Link, error)

	// Close releases everything and unblocks every call, which then returns
	// ErrClosed. What was sent before is still delivered to live peers. No
	// goroutine of the fabric is left when it returns.
	Close() error
}

// A Link is an ordered, reliable, full-duplex message path to one peer. One
// sender and one receiver may use it at the same time, not more.
//
// Ownership: the caller's buffers are borrowed until the call returns, and not
// touched afterwards.
//
// Cancellation: when ctx ends during a call, the call returns context.Cause(ctx)
// soon. A message may then be half transferred, so the link is broken in that
// direction: every later call returns an error. Passing the same ctx again and
// again costs nothing; a provider watches a context once, not once a message.
//
// Errors: *LostError when the peer or the path is gone, *TagError when the
// message is not the expected one, ErrClosed after Close. All are final.
type Link interface {
	// Send returns when b may be reused; the peer need not have received it.
	Send(ctx context.Context, tag *Tag, b []byte) error

	// Recv fills b with the next message, which must carry tag and be exactly
	// len(b) long.
	Recv(ctx context.Context, tag *Tag, b []byte) error

	// RecvFunc hands the next message, which must carry tag and be exactly n
	// bytes long, to f in pieces, in place where the provider can. The pieces
	// cover [0,n) once; each starts at a multiple of PieceAlign from the start
	// of the message; p is valid until f returns. f may be called from several
	// goroutines at once, for different pieces, in any order. An error of f is
	// returned and breaks the link.
	RecvFunc(ctx context.Context, tag *Tag, n int, f func(off int, p []byte) error) error

	// Close breaks the link at this end and unblocks its calls. What was sent
	// before is still delivered.
	Close() error
}

// PieceAlign is the granularity of the pieces RecvFunc hands out: no element of
// up to this many bytes is ever cut in two.
const PieceAlign = 16

// A Poster is a Link that can begin a send without blocking, so that a small
// message needs no second goroutine. Post and Send share the sending side: one
// user at a time.
type Poster interface {
	// Post begins to send. It never blocks. When done is true, b may be reused;
	// otherwise tag and b stay borrowed until Flush returns nil.
	Post(tag *Tag, b []byte) (done bool, err error)
	// Flush waits until what was posted has been taken.
	Flush(ctx context.Context) error
}

// A Counter is a Link or Fabric that counts what crosses it.
type Counter interface {
	Traffic() Traffic
}

// Traffic counts messages and payload bytes since the start, tags and framing
// not included.
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
