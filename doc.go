// Package thunder runs collective operations over a fabric of a few machines: TCP
// today, and whatever else package fabric has a provider for.
//
// A program starts as one process per rank, finds the others with Init, and calls
// the same operations in the same order everywhere:
//
//	c, err := thunder.Init(ctx, thunder.Options{})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	grads := []float32{ ... }
//	err = thunder.AllReduce(ctx, c, grads, thunder.Avg)
//
// Started alone, it is a group of one and every operation succeeds at once.
//
// # Order
//
// Collectives of one Comm run one after the other. Send and Recv keep an order of
// their own for each peer and direction, apart from the collectives. The Async
// functions return at once with a Work; their place in the order is that of the
// call. Split makes groups that do not wait for each other.
//
// # Choice
//
// How an operation is performed depends on its length, the number of ranks and who
// shares a host with whom: where some ranks do, they work within hosts first. Rules of
// thumb choose, or a model of what messages cost: from the profile of 'thunder tune'
// (Options.Profile, THUNDER_PROFILE), or measured with the first operation
// (Options.Calibrate, THUNDER_CALIBRATE=1). A model also sets the length of the segments
// in which messages travel (Options.Segment and THUNDER_SEGMENT override it) and, from
// a profile, the number of TCP streams. Measuring is not the default: what is measured
// differs from run to run, a different choice adds in a different order, and the same
// program should give the same bits again. Options.Algo overrides all of it.
//
// Ranks that are all on one machine take long blocks from each other's memory instead of
// sending them, where that is quicker, and reduce in the order of the ranks: always if
// all buffers are of Comm.Alloc, else if the system lets processes of one user read each
// other (Options.NoPeerReads and THUNDER_NO_PEER_READS=1 keep a rank's memory from being read;
// kernel.yama.ptrace_scope above 0 does so, too). Comm.Choice tells. To see how ranks
// of a Mac share memory, THUNDER_SHM_PORTABLE=1 makes those on Linux do the same.
//
// Buffers of 4 MiB and more that are used repeatedly are moved to huge pages, once, at their
// third use, which takes about a millisecond for 2 MiB. That makes long operations up to a
// third faster in shared memory, and up to a sixth over TCP (Options.NoHugePages and
// THUNDER_NO_HUGE_PAGES=1 leave buffers where they are).
//
// # Failure
//
// No call blocks for ever. An operation ends with its result, or with an error that
// says who, what and why:
//
//   - *PeerLostError: a rank is gone;
//   - *TimeoutError: the context's deadline or Options.Timeout passed, with what
//     the late ranks were doing;
//   - *OptionError: Init was given something that it does not take;
//   - *MismatchError: ranks called different things;
//   - *AbortError: a rank cancelled its context or called Abort;
//   - *AuthError (from Init): a peer does not know the token;
//   - *SettingsError (from Init): a peer does, but runs with incompatible settings, such
//     as another fabric.
//
// The rank that notices tells the others over a control channel beside the data,
// so all of them return the same within a moment. The Comm is of no more use then.
// Buffers of a failed operation hold anything.
//
// A process that ends is noticed at once. Heartbeats on the control channel find a
// machine that is down, a cable that was cut or a process that was stopped within
// Options.HeartbeatTimeout, two seconds, whatever the operation's deadline; a rank that only
// takes long goes on sending them. Package internal/liveness says how ranks come to
// the same verdict.
//
// Bytes that are damaged on the way are the network's to find: Ethernet frames and TCP
// segments carry checksums, and what fails them is sent again. What they miss, such as
// a byte that a bad memory module or switch changes between the two, is found in a
// message's header always, and in its payload with Options.Checksum (THUNDER_CHECKSUM=1),
// which is off by default because it looks at every byte twice more. The rank that
// receives the damage takes the connection for broken, and all get a *PeerLostError
// with that cause; if there are others to the same peer, on several rails, it is sent
// again there. Shared memory has no way to go wrong between two ranks, and RDMA
// checks its packets in hardware; provider/rdma adds its own on devices that may lose them.
//
// # After a failure
//
// Comm.Shrink makes a group of the survivors, who agree on who they are (package
// internal/membership says what is guaranteed). Comm.Reform begins the next
// generation with all ranks, once the dead have been started again. Under thunder
// launch --restarts, end with an error: all ranks are started again.
//
// # Looking inside
//
// Each rank records its last operations. With Options.DumpDir (THUNDER_DUMP_DIR) they
// are written to a file when a group fails and at SIGUSR1, and thunder inspect says
// who was late or called something else. With Options.Metrics (THUNDER_METRICS) a
// rank serves Prometheus. Options.Logger is told the rest; without one, warnings go to
// standard error, and more or less with THUNDER_LOG.
package thunder
