// Package stream makes rails out of USB4STREAM, the byte streams that Linux offers
// over a Thunderbolt or USB4 cable without a network (module thunderbolt_stream).
//
// A stream is made by a directory in configfs and used as a device,
// /dev/tbstreamN. A Rail makes two of them for each conversation, one for each
// direction, since the driver lets one reader or one writer at a time into a stream.
// Both ends make streams of the same names, so there is nothing to dial.
//
// What the driver promises is little, and Conn makes up for it:
//
//   - Bytes that are written before the other end has opened the stream may be
//     lost. So Open first says hello until it hears the other's hello, and what
//     follows starts behind both.
//   - A write may take half of what it is given, or less. Conn goes on with the
//     rest, in multiples of 4096 bytes as long as it can.
//   - A frame with a checksum error is delivered like any other. Conn puts bytes
//     into blocks with a number and a CRC of their own, and fails when one is wrong:
//     the rail is then given up, and what was under way goes over the others
//     (package fabric/rails).
//   - A cable that hangs says nothing. Conn sends an empty block when it has had
//     nothing to send for a while, and fails when nothing has come for longer.
//   - After the end of a stream nothing may be read any more.
package stream
