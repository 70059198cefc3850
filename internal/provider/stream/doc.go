// Package stream makes rails out of USB4STREAM, the byte streams that Linux offers
// over a Thunderbolt or USB4 cable without a network (module thunderbolt_stream).
//
// A stream is made by a directory in configfs and used as a device,
// /dev/tbstreamN. A Rail makes two of them for each conversation, one for each
// direction, since the driver lets one reader or one writer at a time into a stream.
// Both ends make streams of the same names, so there is nothing to dial. An end can
// open only what the other has made, so both streams are made before either is opened.
//
// # How to declare one
//
// As a cable of the job, with the service that each end has for the other behind a
// slash: in a hostfile "edges": [["halo1/0-1.3", "halo2/0-3.1"]], or with --edges (or
// THUNDER_EDGES) halo1/0-1.3=halo2/0-3.1. The directories of
// /sys/kernel/config/thunderbolt/stream are made and removed by the ranks, which need
// the right to do so; the module has to be loaded (modprobe thunderbolt_stream). The
// services are listed in /sys/bus/thunderbolt/devices. Each link takes two streams of the
// driver: three links, so six streams, for a job without groups.
//
// Streams come beside TCP: the ranks meet over their addresses, and either kind of
// rail carries on without the other.
//
// # What the driver leaves to do
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
//     (package provider/rails).
//   - A cable that hangs says nothing. Conn sends an empty block when it has had
//     nothing to send for a while, and fails when nothing has come for longer.
//   - After the end of a stream nothing may be read any more.
package stream
