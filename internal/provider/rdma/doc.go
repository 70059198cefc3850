// Package rdma is the fabric over RDMA devices: network cards, soft-RoCE, USB4 on
// Linux, and RDMA over Thunderbolt on macOS.
//
//	f, err := rdma.New(ctx, boot, rdma.Config{})
//
// boot is another fabric between the same ranks, usually TCP. It carries the
// control channel, the set-up of links, and the news of a peer's death; with
// Config.Fallback also every pair that has no working device at both ends, and
// Paths says which and why.
//
// # Two profiles
//
// What both devices of a pair can do decides. Reliable ones (RC) send, and write
// into memory that the peer has advertised. The others (UC) only send, may lose or
// damage messages, and are used within every limit that is known of RDMA over
// Thunderbolt (plan.go): slots of whole frames, few queue pairs and memory regions,
// one piece of memory per request.
//
// # A link
//
// A link has one small lane, for short messages and control, and a bulk lane on
// each rail; a lane is a queue pair with slots at both ends (lane.go). A message is
// cut into pieces that go round the rails. The receiver grants the sender so many
// data messages per lane, so none is ever sent without a receive waiting for it;
// control messages need no grant and have receives of their own (control.go).
//
// Short messages are copied into slots and out of them. RecvFunc hands out the slot
// itself. Between memories of Alloc, long messages on reliable devices are written
// directly and not copied at all (direct.go). On unreliable ones they are copied:
// the checksum has to read every byte anyway, and a message has to be kept until
// its receipt is acknowledged. There, every message has a number and a checksum,
// and what is lost is sent again (repair.go).
//
// Whoever is in a call polls, for a bounded time, and parks on the completion
// channel then; where a device has none, it naps between looks (engine.go).
//
// A link whose device says that the peer cannot be reached, or hears nothing of it for
// Config.GiveUp, ends, and tells the peer on the boot fabric: whoever waits there for a
// message on a cable that was cut gets a *fabric.LostError, too.
//
// # Limits
//
// A link takes a queue pair for small messages and one per rail. Devices that have
// ten of them therefore carry five links on one rail; the next is an
// *UnavailableError, or falls back. Giving up a transfer between registered
// memories ends the link in both directions, since the peer must not write to
// memory that is the caller's again. Ends without completion events look once a
// millisecond while an unreliable link is idle.
package rdma
