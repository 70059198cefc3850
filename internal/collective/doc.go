// Package collective carries out operations such as AllReduce on a group of ranks.
//
// It works in three stages, each of which can be understood without the next:
//
//	Spec ──Build──▶ Schedule ──NewPlan──▶ Plan ──Executor──▶ done
//	what is wanted  who sends what        with segments,      over links, a board,
//	                to whom               type, reduction     or shared memory
//
// # Schedules
//
// An algorithm is a pure function: Build maps a Spec (operation, algorithm, rank, size,
// counts, root) to a Schedule, the list of sends, receives, copies and reductions that
// one rank performs. It knows nothing of sockets or goroutines, so that the schedules of
// all ranks can be proved correct together (package check does, for 1 to 16 ranks and
// awkward lengths), executed, costed or simulated.
//
// The algorithms for AllReduce; Algos lists those of the other operations. Each works for
// every number of ranks.
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
// Where some ranks share a host (Spec.Hosts), hier works within hosts first. An AllReduce
// of v bytes on h hosts then moves 2(h-1)·v bytes between hosts in total, which is the
// minimum, divided evenly among the ranks of each host. Around the ring of n ranks,
// 2(n-1)/n·v bytes cross every link that leaves a host. Hosts may have different numbers
// of ranks, in any order.
//
// # Which algorithm
//
// Choose applies rules of thumb. A Model predicts the time of each algorithm from
// measurements of the links within and between hosts; Model.Choose takes the fastest, and
// Model.Segment returns the length of the segments. All ranks have to make the same
// choice: both functions are pure, and round in the same way on every processor.
//
// # Plans
//
// NewPlan cuts the messages of a schedule into segments, and moves each send up to where
// its data is ready (Segmented), so that a segment is passed on while the next one
// arrives. It binds the schedule to an element type and a reduction, and works out which
// sends have to be finished before a range may be overwritten. A Planner keeps the plans
// in use.
//
// # Paths
//
// An Executor carries out the plans of one group, one at a time, on the quickest path
// that the ranks have; see Path, and the table in ARCHITECTURE.md. Begin decides the path
// and does at once what needs no waiting. The caller may then do something else, such as
// record the operation, while its message is under way. Finish does the rest.
//
// The path of messages is always there. The actions of a schedule are in one lane, or in
// two that run at the same time. A receive blocks its lane. A send is posted: the link
// moves it on while the lane waits for something else (see fabric.Link). The links of a
// plan are opened, all at once, before it first runs. In steady state nothing is allocated.
//
// The other paths are for two ranks with short messages, and for ranks of one machine;
// Executor.Share tells the executor what these share.
//
// # Failures
//
// The first error ends the operation: the executor calls the function that it got for
// failures, or closes the links it uses, waits until no call uses the caller's buffers any
// more, and returns the error as a *StepError. It is unusable after that.
//
// # Determinism
//
// Each element of a result is the same expression on every rank, hence the same bits, and
// again in the next run. Direct, the board and shared memory combine from left to right in
// rank order. rd and round trips combine neighbouring blocks of ranks, lower ranks on the
// left; tree does the same counted from the root, except for an AllReduce of ranks that
// outnumber their processors (Spec.Crowded), where each rank adds those that are a power
// of two behind it, the farthest first. The ring starts behind the rank that owns a block
// and goes round; hd sums along its circulant graph; cable adds the children, in the order
// of the tree, to the own part; mesh adds the ranks behind the owner of a block, one after
// the other; hier adds within each host, then across hosts as the algorithm between them
// does. An average is divided once, where an element is first complete (Action.Final),
// before it is handed on.
//
// # Memory
//
// Reductions read incoming bytes where the fabric has them. What has to be staged goes
// through windows of Spec.Window elements (2 MiB as NewPlan sets it), whatever the length
// of the message and whatever the operation.
package collective
