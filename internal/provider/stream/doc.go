// Package stream makes rails out of USB4 streams (USB4STREAM), the byte streams that
// Linux offers over a Thunderbolt or USB4 cable without a network (module
// thunderbolt_stream).
//
// A USB4 stream is created as a directory in configfs and used as a device,
// /dev/tbstreamN. A Rail creates two for each connection, one for each direction,
// since the driver allows one reader or one writer at a time on a stream. Both ends
// create streams of the same names, so there is nothing to dial. An end can open only
// what the other has created, so both streams are created before either is opened.
//
// # How to declare one
//
// Declare a cable of the job, with the Thunderbolt service that each end has for the
// other after a slash: in a hostfile "edges": [["halo1/0-1.3", "halo2/0-3.1"]], or with
// --edges (or THUNDER_EDGES) halo1/0-1.3=halo2/0-3.1. The services are listed in
// /sys/bus/thunderbolt/devices. The module must be loaded (modprobe
// thunderbolt_stream). The ranks create and remove the directories of
// /sys/kernel/config/thunderbolt/stream, and need permission to do so. Each link takes
// two streams of the driver; a job without groups has three links, so six streams.
//
// USB4 streams are used in addition to TCP: the ranks connect over their addresses
// first, and either kind of rail continues without the other.
//
// # What Conn adds to the driver
//
// The driver guarantees little, and Conn makes up for it:
//
//   - Bytes that are written before the other end has opened the stream may be
//     lost. So Open first repeats a hello until it receives the other end's, and data
//     starts after both.
//   - A write may accept half of what it is given, or less. Conn writes the rest, in
//     multiples of 4096 bytes where possible.
//   - A frame with a checksum error is delivered like any other. Conn puts bytes
//     into blocks with a number and a CRC of their own, and fails when one is wrong:
//     the rail is then dropped, and what was under way is sent again on the others
//     (package rails).
//   - A cable that hangs reports no error. Conn sends an empty block when it has had
//     nothing to send for a while, and fails when it has received nothing for longer.
//   - Reading past the end of a stream is not allowed, so Conn never does.
package stream
