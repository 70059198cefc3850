// Package rails combines several rails to the same peer into one link: two cables, a
// fast one and a slow one, TCP and USB4 streams.
//
// A link has one or more streams on each rail; a stream is any reliable bidirectional
// byte stream (Conn). A message is cut into segments of segmentSize, numbered
// consecutively over the life of the link. Each segment goes to a stream on a rail that
// is free: one that has no more bytes under way than it delivers in a few milliseconds,
// and on which the segment would not be late. A segment is late if it arrives after the
// rest of the message could have arrived over all rails together. So each rail carries
// the share that its measured rate allows, and all rails finish a message at the same
// time. The receiver puts the segments in order.
//
// # Failure of a rail
//
// A segment is kept until the peer has acknowledged it. When a stream breaks, or its
// segments are not acknowledged while those of others are, what it had under way is
// sent again on the others; the receiver drops duplicates. The end that dialled keeps
// dialling, and a stream that is back is used again. A peer is lost when its last
// stream is gone.
//
// Messages of the control channel do not wait that long: what has not been acknowledged
// within a tenth of a second is also sent on another rail. Otherwise heartbeats would be
// delayed by the time it takes to give up a rail, which is the time after which ranks
// are given up.
//
// Detection takes Config.Stall, by default one second. Where the system knows whether
// the rail or the peer went silent (Linux), it is asked: a process that is merely
// stopped still has a kernel that answers.
//
// # Damage
//
// A stream that delivers a damaged header or, with Config.Checksum, a damaged payload
// is treated as broken: what it had under way is sent again on the others, and the peer
// is lost only with the last stream.
//
// # On the wire
//
// After the carrier's handshake the dialler sends the addresses of the rail that it
// believes the stream to be on, and the acceptor compares them with its own before
// either end sends a message (see greeting). Then come frames:
//
//	 0  kind     1 byte    data, ack, go, bye
//	 4  length   4 bytes   of the payload that follows
//	 8  seq      8 bytes   number of the segment; with bye, how many there were
//	16  offset   8 bytes   of the payload in its message
//	24  total    8 bytes   length of the message
//	32  arrived  8 bytes   segments received on this stream
//	40  credit   8 bytes   the receiver takes segments below this number
//	48  tag      32 bytes
//	80  sum      4 bytes   of the payload, with Config.Checksum; else 0
//	84  check    4 bytes   of the header up to here
//
// All frames carry arrived and credit; an ack is sent only where there is no data to
// send. A receiver accepts everything within the credit it gave, even before a call
// asks for it, so no stream is ever blocked by a message that arrives later on it than
// on another. The credit bounds memory: 64 segments in each direction, allocated when
// needed.
package rails
