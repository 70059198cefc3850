// Package collective turns collective operations into messages between ranks.
//
// # Schedules
//
// An algorithm is a pure function: Build maps a Spec (operation, algorithm, rank,
// size, counts, root) to a Schedule, the list of sends, receives, copies and
// reductions that one rank performs. Nothing here knows about sockets or
// goroutines, so the same schedule can be proved right for every rank at once
// (package check does, for 1 to 16 ranks and awkward lengths), executed, costed or
// simulated. Split cuts the messages into segments and starts each send as soon as
// its data is there; Choose picks the algorithm.
//
//	             steps             sent by a rank, in vectors
//	direct       1                 size-1
//	rd           log2 size (+2)    log2 size
//	tree         2 log2 size       up to log2 size
//	ring         2 (size-1)        2 (size-1)/size
//	biring       2 (size-1)        2 (size-1)/size, half in each direction
//	hd           2 ⌈log2 size⌉     2 (size-1)/size
//	cable        2 depth           1 to each neighbour in the tree of cables
//	mesh         2                 2/size to each of the others
//	hier         2 within hosts, and those of the best among hosts between them
//
// That is for AllReduce; the other operations have those for which Algos says so.
// Every algorithm works for every number of ranks.
//
// # Hosts
//
// Where some ranks share a host (Spec.Hosts), hier works within hosts first. An
// all-reduce of v bytes on h hosts has 2(h-1)·v bytes cross between hosts in all,
// which is the least there is, shared evenly by the ranks of each host; around the
// ring of n ranks it is 2(n-1)/n·v for every link that leaves a host. Hosts may have
// different numbers of ranks, in any order.
//
// Two ranks that share a host mix the two halves of their ring, so that sums are sent
// while they are in the cache; between hosts the summands go first, to keep the network
// busy.
//
// # Choice
//
// Choose goes by rules of thumb. A Model predicts the time of each algorithm from what
// was measured of links within and between hosts, and Model.Choose takes the fastest;
// Model.Segment says in what pieces its messages should travel. Ranks have to choose
// alike: both are pure, and round in the same way on every processor.
//
// # Determinism
//
// Each element of a result is the same expression on every rank, hence the same
// bits, and again in the next run. Direct combines from left to right in rank
// order; rd combines neighbouring blocks of ranks, lower ranks on the left; tree
// does the same counted from the root, but for an all-reduce of ranks that outnumber their
// processors (Spec.Crowded), where each adds those that are a power of two behind it, the
// farthest first; the ring starts behind the rank that owns a
// block and goes round; hd sums along its circulant graph; cable adds the children,
// in the order of the tree, to the own part; mesh the ranks behind the owner of a
// block, one after the other; hier adds within each host, then across hosts as the
// algorithm between them does. An average is divided
// once, where an element is first complete (Action.Final), before it is handed on.
//
// # Memory
//
// Reductions read the incoming bytes where the fabric has them. What has to be
// staged goes through windows of Spec.Window elements (2 MiB as NewPlan sets it),
// whatever the length of the message and whatever the operation.
//
// # Execution
//
// NewPlan binds a schedule to an element type and a reduction; a Planner keeps the
// plans in use. An Executor runs plans over the links of one group, one at a time.
// A receive blocks its lane. A send goes out at once if it is small and the link
// can take it (fabric.Poster), or if all links of the plan move messages on while the
// lane waits (fabric.Backlog), else through a goroutine that belongs to the peer.
// Before a range is written, the sends that still read it are waited for; the plan
// knows which. In steady state nothing is allocated.
//
// # Paths
//
// Messages are one of several paths. Executor.Begin decides which one an operation takes
// (see Path) and does at once what needs no waiting; Executor.Finish does the rest. Ranks
// of one machine have a board for short operations, and take the data of long ones from
// each other's memory, or make round trips; Executor.Share tells what they have. Two ranks
// exchange short messages without lanes and outboxes; the peer cannot tell.
//
// The first error ends the run: the executor closes the links it uses, waits until
// no call is left in the caller's buffers, and returns the error as a *StepError.
// It does not work afterwards.
package collective
