// Package tcp is the fabric over TCP sockets.
//
// # Links
//
// A link to a peer consists of one or more connections, its streams, which are opened on
// first use: the higher rank dials, the lower one accepts, and both prove that they know
// the token of the job before they exchange anything else (package rendezvous/handshake).
// When a stream breaks, the link is lost: every call returns a *fabric.LostError.
//
// A message is a 48-byte header (tag, length, checksums) and its payload, written in one
// vectored call on stream 0 and read in one, straight into the receiver's buffer. From
// StripeMin bytes on, the payload is divided among all streams, and the parts move at the
// same time, each by a goroutine of its stream. RecvFunc reads into a staging buffer of
// at most stageSize a stream, so that a reduction finds its operand in the cache and
// memory use does not grow with the message.
//
// A header is compared byte for byte with what the receiver expects; its checksum tells a
// damaged header from one that the peer did send. Config.Checksum adds a CRC-32C of the
// payload, separately for the part of each stream. It is off by default: TCP and Ethernet
// check what they carry, and every byte would be read once more at both ends. A
// difference ends the link with a *fabric.LostError about a *fabric.CorruptError.
//
// # Receiving
//
// There is no reader goroutine: the caller of Recv reads the socket itself. It polls for
// a moment, yielding the processor between polls if ranks outnumber processors, and then
// parks in the runtime's poller. So a short message takes one system call at either end
// and no goroutine switch; on Linux, the receiver of several short messages takes those
// that are there with one call. On Linux, too, the runtime's poller knows of a data
// socket only while a goroutine is parked: otherwise every message would wake it, even
// one that is being polled for.
//
// # Sending
//
// A link of several streams has a queue (package sendqueue) for what Post cannot send at
// once. A link of a single stream, on Linux, needs no goroutine: what the socket does not
// take at once moves on while the rank waits on any link of the same channel, and short
// messages are lent where they were read (Link.Take). That is better where a rank has
// hardly a processor of its own; where it has several, more streams move more data.
// A rank may also wait on a fabric that stands on this one; Config.Background then has a
// goroutine write what is left, parked while there is nothing.
//
// Data connections that stay on the machine use the Reno congestion control: there is no
// congestion on the way, and the pacing of others costs timers.
//
// # Strangers
//
// What both ends have to agree on (checksums, and by Config.Settings what stands on this
// fabric) is compared during the handshake; a peer that differs is refused, and
// Config.OnDiffer is called so that this rank does not wait for it.
//
// A limited number of connections may be in the handshake at once, each for a limited
// time, with messages of fixed size. A source whose connections fail is slowed down:
// beyond a few hundred failures a second it is turned away without a handshake, in
// batches, before anything is allocated for it, and the log has one line every few
// seconds for all of them. A rank that has the same address as a stranger may be turned
// away, too; it tries again until it succeeds. Lengths in headers are compared with what
// the receiver expects and never used to allocate.
package tcp
