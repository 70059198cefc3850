// Package shm is the fabric of ranks that share a machine: they talk through
// memory that both have mapped.
//
// It stands on another fabric, the bootstrap (tcp in practice), over which peers
// have proved who they are. Two ranks first find out whether they can share memory
// at all. If they are on one machine, the lower one opens a Unix socket, the door, and tells
// the other where; the other comes there, both prove that they have heard each other's
// random number over the bootstrap, and the connection stays, as the passage between them.
// Memory is an anonymous file (memfd; on macOS an object of shm_open whose name is gone
// before it has any memory). Its maker passes the file through the passage, and the peer
// maps it, if it holds the maker's random number and the right serial number. If that
// works in both directions the pair talks through memory; otherwise, which is the rule for
// ranks of different machines, it goes on with the bootstrap. Memory never has a name in a
// file system, so nothing is left behind by a rank that is killed, and nothing stale can be
// found. Neither has the door on Linux, unless ranks are in network namespaces of their
// own; elsewhere it has one for a millisecond, and should a rank be killed in just that,
// the next one that opens a door removes it.
//
// Ranks need nothing but the socket in common: they may be of different users, and in
// different containers.
//
// # Messages
//
// Each direction of a link is a ring of cells of one cache line, and a ring of
// bytes. A cell carries the tag, the length, up to 16 bytes of payload, and a
// sequence number that is written last and is what the receiver waits for: a small
// message crosses in one cache line. Longer payloads go through the ring of bytes
// in chunks, one cell each; the receiver copies or reduces them where they lie.
// Where a chunk lies follows from the lengths alone, which both ends compute for
// themselves: nothing that a peer writes is used as an address or a length.
//
// # Round trips
//
// A processor that reads what another has written takes the line over, here at least: if
// the other writes to it again, it has to fetch it back first. A ring in which one end
// always writes and the other always reads therefore moves every line twice. In a round
// trip (fabric.RoundTripper) what comes back lies where it was lent, so both ends write
// only to lines that they were the last to read.
//
// # Boards
//
// What is short is not sent to each rank in turn: on a board (fabric.Board) each rank
// has a page of its own that the others have mapped, writes what it has to say there
// once, with the number of the round behind it, and reads theirs. A page has entries
// for several rounds. Whoever sees a rank's entry of a round knows that it is done with
// the rounds before; for ranks that only look, each page says now and then how far its
// owner is.
//
// What costs time is cache lines that change cores. A round takes one such change: entries
// are published without a fence (package publish), so that their writer goes on; the lines
// of its next entry, which its readers have fetched into their own caches, a rank fetches
// back between operations; and nothing else on a page is touched on the way. Where two
// ranks show each other more than fits an entry, each writes to where it has read from
// before (Swap): those lines it has.
//
// # Waiting
//
// A rank that waits polls for Config.Spin, between polls offering its core to others if
// that is crowded (Config.Crowded), but not at once if what it waits for on a board comes
// from ranks of other cores, then sleeps on its bell, a futex that its peers ring when
// they have written or freed something and somebody sleeps. So an idle rank costs
// nothing. Where there are no futexes they knock: a record on the passage wakes those who
// sleep, through the runtime's poller. Who publishes without a fence may miss one that lies
// down in that moment; a sleeper therefore looks up again, soon at first and then rarely.
// While it waits, for whatever it may be, it moves on the messages that are posted on links
// of the same channel: posting and then receiving needs no goroutine to send
// (fabric.Backlog).
//
// # Death
//
// A link keeps a connection of the bootstrap open. When that ends, the peer is gone:
// what it had sent is still received, then every call returns a *fabric.LostError.
//
// # Memory to share
//
// Alloc returns memory that peers can map as well (fabric.Sharer), for algorithms
// that work on each other's buffers without any message.
//
// Other memory cannot be mapped, but the kernel copies from one process to another
// (process_vm_readv; fabric.Reader) if it would let the one debug the other: processes
// of one user, as a rule. Two ranks find out when they meet, by reading the number in
// the other's home segment at the address that came with the offer: a process that has no
// number here, a container, another user, or a policy such as Yama's ptrace_scope all end
// there, in messages through shared memory; macOS, too. Nothing is done to get around a
// policy: a process can name one other that may read it, or all, and either would change
// what the rest of the machine may do to the program. Config.Private declines.
//
// Peers only ever read. A rank whose operation has failed uses its memory for something
// else, and a write that comes late would destroy that.
package shm
