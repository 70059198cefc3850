// Package shm is the fabric of ranks that share a machine: they communicate through
// memory that both have mapped.
//
// # Failure
//
// A link keeps a connection of the fabric beneath it open. When that ends, the peer is
// gone: what it has sent is still received, then every call returns a *fabric.LostError.
// Pairs that cannot share memory use the fabric beneath instead, with a warning if they
// are on one machine; Config.Require makes it an error.
//
// # Bootstrap
//
// The fabric stands on another one, the bootstrap (tcp in practice), over which peers have
// proved who they are. Two ranks first find out whether they can share memory. If they are
// on one machine, the lower one listens at a Unix socket, the door, and tells the other
// its name. The other connects, both prove that they have received each other's random
// number over the bootstrap, and keep the connection, the passage, for as long as they
// live. Memory is an anonymous file (memfd; on macOS an object of shm_open whose name is
// removed before it has any memory). Its maker sends the file over the passage, and the
// peer maps it if it holds the maker's random number and the right serial number. If that
// works in both directions the pair communicates through memory. Memory never has a name
// in a file system, so a rank that is killed leaves nothing behind, and nothing stale can
// be found. Neither has the door on Linux, unless ranks are in network namespaces of their
// own; elsewhere it has a name for a millisecond, and if a rank is killed just then, the
// next one that opens a door removes it.
//
// Ranks need nothing but the socket in common: they may be of different users, and in
// different containers.
//
// # Messages
//
// Each direction of a link is a ring of cells of one cache line, and a ring of bytes. A
// cell carries the tag, the length, up to 16 bytes of payload, and a sequence number that
// is written last and is what the receiver waits for: a short message crosses in one cache
// line. Longer payloads go through the ring of bytes in chunks, one cell each; the
// receiver copies or reduces them in place. Where a chunk lies follows from the lengths
// alone, which both ends compute for themselves: nothing that a peer writes is used as an
// address or a length.
//
// A message that does not fit moves on while its sender waits, on any link of the same
// channel or on a board. If some peers share no memory the sender may wait on the
// bootstrap instead; then a goroutine moves it on, parked while there is nothing to do.
//
// # Waiting
//
// A rank that waits polls for Config.Spin, yielding its core between polls if cores are
// crowded (Config.Crowded); not at once, though, if what it waits for on a board comes
// from ranks on other cores. Then it sleeps on its bell, a futex that its peers ring when
// they have written or freed something while a thread sleeps. So an idle rank costs
// nothing. Where there are no futexes, peers knock: a record on the passage wakes sleepers
// through the runtime's poller. A peer that publishes without a fence may miss a rank that
// falls asleep at that moment; a sleeper therefore looks again, soon at first and then
// rarely.
//
// # Memory
//
// Ranks that all share memory get a fabric.Memory, with a board.
//
// On the board each rank has a page of its own that the others have mapped. It writes a
// short message there once, followed by the number of the round, and the others read it.
// A page has entries for several rounds. A rank that sees another's entry of a round knows
// that the other is done with the rounds before; ranks that only look report their
// progress on their page from time to time. What costs time is cache lines that move
// between cores. A round takes one such move: entries are published without a fence
// (package publish), so that their writer goes on; between operations a rank fetches back
// the lines of its next entry, which its readers have in their caches; and nothing else on
// a page is touched on the way. Two ranks that show each other more than fits an entry
// write where they have read before (Board.Swap): those lines they have.
//
// Memory of Alloc can be mapped by peers, for algorithms that work on each other's buffers
// without messages. It is registered with the bootstrap as well, so that it crosses to
// other machines without a copy if the bootstrap can do that.
//
// Other memory cannot be mapped, but the kernel copies from one process to another
// (process_vm_readv) if it would let the one debug the other: processes of one user, as a
// rule. Two ranks find out when they meet, by reading the random number in the other's
// home segment. If that fails (a container, another user, a policy such as Yama's
// ptrace_scope, macOS), they use messages through shared memory. The fabric does nothing
// to get around a policy: a process can allow one other process to read it, or all, and
// either would change what the rest of the machine may do to the program. Config.Private
// declines. Peers only read: a rank whose operation has failed uses its memory for
// something else, and a late write would destroy that.
//
// In a round trip each rank lends the other a part of its vector in the ring of bytes, and
// takes it back from there. A processor that reads what another one has written takes over
// the cache line; if the other writes to it again, it has to fetch it back first. A ring in
// which one end always writes and the other always reads moves every line twice. In a
// round trip both ends write only to lines that they were the last to read.
package shm
