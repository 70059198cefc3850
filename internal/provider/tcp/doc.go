// Package tcp is the fabric over TCP sockets.
//
// A link to a peer is a handful of connections, its streams, opened on first use:
// the higher rank dials, the lower one accepts, and both prove that they know the
// job's token before anything else is said (package rendezvous/handshake).
//
// A message is a 48-byte header (tag, length, checksums) and its payload, written in one
// vectored call on stream 0 and read with one, straight into the receiver's
// buffer. From StripeMin bytes on, the payload is cut into one part per stream and
// the parts move side by side, each by a goroutine that the stream keeps for it.
// RecvFunc reads through a staging buffer of at most stageSize a stream, so that a
// reduction finds its operand in the cache and memory use does not grow with the
// message.
//
// A header is compared byte for byte with what the receiver expects; its checksum
// tells one that was damaged from one that the peer did send. Config.Checksum adds a
// CRC-32C of the payload, of each stream's part apart. It is off by default: TCP and
// Ethernet check what they carry, and every byte would be read once more at both ends.
// A difference ends the link with a *fabric.LostError about a *fabric.CorruptError.
//
// There is no reader goroutine: whoever calls Recv reads the socket itself, first
// polling for a moment, between polls offering the processor to others if ranks
// outnumber cores, then parked in the runtime's poller. A small message therefore
// crosses with one system call on either side and no goroutine switch; on Linux the
// receiver of several takes what is there with one. There the
// runtime's poller knows of a data socket only while somebody is parked: it would
// otherwise be woken by every message, also by those that are being polled for.
//
// Data connections that stay on the machine use Reno, whatever the machine uses for
// networks: there is no congestion to control, and pacing costs timers.
//
// A link of a single stream, again on Linux, is a fabric.Backlog: it needs no goroutine
// to send either. What the socket does not take at once moves on while its user waits
// in any link of the same channel. What is short is taken from where it was read to
// (fabric.Swapper). That is the better half of the bargain where a rank
// has hardly a core of its own; where it has several, more streams move more.
//
// The handshake compares the settings that both ends must share (checksums, and the
// caller's Config.Settings). A peer that differs is refused, and Config.OnDiffer tells
// this rank not to wait for it.
//
// What strangers can do at the listening port is limited: a bounded number of
// connections may be in the handshake at once, each for a bounded time, with
// messages of fixed size. A source whose connections fail is slowed down: beyond a few
// hundred failures a second it is turned away unheard, in batches, before anything is
// allocated for it, and the log has one line every few seconds for all of them. A rank
// that shares its address with strangers may be turned away too; it tries again until
// it is heard. Lengths in frames are compared with what the receiver expects and never
// used to allocate.
package tcp
