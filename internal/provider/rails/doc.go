// Package rails joins several ways to the same peer into one link: two cables, a
// fast one and a slow one, TCP and USB4STREAM.
//
// A link has one stream per rail, or several; a stream is any reliable pair of byte
// streams (Conn). A message is cut into segments of segmentSize, which are numbered
// without a gap over the life of the link and handed to a stream on whichever rail is
// free: one that has no more bytes under way than it delivers in a few milliseconds,
// and on which the segment would not be late. Late is after all that is left of the
// message could have arrived over all rails together. So a rail carries what it is
// good for, measured as it goes, and all are done with a message at the same time.
// The receiver puts the segments in order.
//
// # Failure of a rail
//
// A segment is kept until the other end has said that it arrived. When a stream
// breaks, or its segments are not acknowledged while those of others are, what it
// had under way goes out again on the others; the receiver drops what it has seen.
// The end that dialled goes on dialling, and a stream that is back is used again. A
// peer is lost when its last stream is gone.
//
// Messages of the control channel do not wait for that: what has not been acknowledged
// within a tenth of a second goes out on another rail as well. Heartbeats would
// otherwise be late by the time that it takes to give up a rail, which is the time
// after which ranks are given up.
//
// Detection takes Config.Stall, a second unless told otherwise. Whether it was the
// rail or the peer that fell silent is asked of the system where it knows (Linux):
// a process that is merely stopped still has a kernel that answers.
//
// # Damage
//
// A stream on which a header or, with Config.Checksum, a payload arrives that is not what
// was sent is taken for broken: what it had under way is sent again like any other, and
// the peer is lost only with the last stream.
//
// # On the wire
//
// After the carrier's handshake the dialler says which rail it believes the stream
// to be on, as both addresses, and the acceptor compares that with its own pairing
// before either end sends a message: see greeting. Then come frames:
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
// All frames carry arrived and credit; an ack is sent only where there is no data
// to send. A receiver takes what arrives within the credit it gave, whether or not
// anybody has asked for it yet, so that no stream is ever held up by a message that
// comes later on it than on another. Memory is bounded by the credit: 64 segments
// each way, taken when needed.
package rails
