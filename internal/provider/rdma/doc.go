// Package rdma is the fabric over RDMA devices: network cards, soft-RoCE, USB4 on
// Linux, and RDMA over Thunderbolt on macOS.
//
//	f, err := rdma.New(ctx, boot, rdma.Config{})
//
// boot is another fabric between the same ranks, usually TCP. It carries the control
// channel, sets up links, and reports the death of a peer. With Config.Fallback it also
// carries every pair of ranks that has no working device at both ends; Paths tells which
// and why.
//
// # Failure
//
// A link ends when its device reports that the peer cannot be reached, or when nothing
// arrives from the peer for Config.GiveUp. It tells the peer over the boot fabric, so
// that a peer which waits for a message on a broken cable gets a *fabric.LostError, too.
//
// # Two profiles
//
// A link uses what both devices can do. Reliable ones (RC) send, and write into memory
// that the peer has advertised. The others (UC) only send, may lose or damage messages,
// and are used within every known limit of RDMA over Thunderbolt (plan.go): slots of
// whole frames, few queue pairs and memory regions, one piece of memory per request.
//
// # A link
//
// A link has one small lane, for short and control messages, and a bulk lane on each
// rail; a lane is a queue pair with slots at both ends (lane.go). A message is cut into
// pieces that are distributed over the rails. The receiver grants the sender a number of
// data messages per lane, so none is sent unless a receive is posted for it; control
// messages need no grant and have receives of their own (control.go).
//
// Short messages are copied into slots and out of them; RecvFunc passes the slot itself.
// Between memory of Alloc at both ends, reliable devices write long messages directly,
// without a copy (direct.go). On unreliable devices long messages are copied: the
// checksum has to read every byte anyway, and a message has to be kept until it is
// acknowledged. There, every message has a number and a checksum, and lost messages are
// sent again (repair.go).
//
// A call that waits polls for a bounded time and then parks on the completion channel;
// where a device has none, it sleeps briefly between polls (engine.go).
//
// # Limits
//
// A link takes one queue pair for small messages and one per rail. A device with ten
// queue pairs therefore carries five links on one rail; the next link fails with an
// *UnavailableError, or falls back. Cancelling a transfer between registered memories
// ends the link in both directions, since the peer must not write to memory that the
// caller uses again. Without completion events, an unreliable link polls once a
// millisecond while it is idle.
package rdma
