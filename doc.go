// Package thunder runs collective operations (all-reduce and its family) on a few
// machines that are joined by Thunderbolt, USB4, Ethernet or RDMA.
//
// A program runs as one process per rank. Each finds the others with Init and calls the
// same operations in the same order:
//
//	c, err := thunder.Init(ctx, thunder.Options{})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	grads := []float32{ ... }
//	err = thunder.AllReduce(ctx, c, grads, thunder.Avg)
//
// Without a launcher or options, the program is a group of one and every operation
// succeeds at once. Local returns several ranks in one process, for tests.
//
// # Failure
//
// No call blocks forever. An operation returns its result, or an error that says which
// rank failed, in what, and why:
//
//   - *PeerLostError: a rank is gone;
//   - *TimeoutError: the context's deadline or Options.Timeout passed; it says what the
//     late ranks were doing;
//   - *MismatchError: ranks called different operations;
//   - *AbortError: a rank cancelled its context or called Abort;
//   - *OptionError (from Init): an option or a THUNDER_ variable is not valid;
//   - *AuthError (from Init): a peer does not know the token;
//   - *SettingsError (from Init): a peer knows the token but runs with incompatible
//     settings, such as another fabric.
//
// The rank that notices a failure tells the others on a control channel, so all ranks
// return the same error within a moment. The group is then unusable: every later call
// returns that error. This includes a context that ends, since the other ranks would
// wait for this one. The contents of the buffers are undefined after a failure.
//
// A process that ends is noticed at once. A machine that is down, a cable that was cut
// and a process that was stopped are noticed by their missing heartbeats, within
// Options.HeartbeatTimeout: 2 seconds between machines, 15 seconds within one. A rank
// that is merely busy keeps sending heartbeats.
//
// To go on after a failure, Comm.Shrink makes a group of the survivors, and Comm.Reform
// begins the next generation of the job with all ranks, once those that died have been
// started again. Under 'thunder launch --restarts', a program can simply exit with an
// error: all ranks are started again.
//
// # Order
//
// Collectives of one Comm run one after the other, in the order of the calls. Messages
// of Send and Recv have an order of their own for each peer and direction. The Async
// functions return a Work at once; their place in the order is that of the call. Groups
// made by Split do not wait for each other.
//
// # Same bits
//
// All ranks get the same bits from a reduction, and the same program gets the same bits
// when it runs again: the algorithm, and hence the order of additions, follows from the
// size of the message, the number of ranks and which ranks share a machine.
//
// A profile of 'thunder tune' (Options.Tuning.Profile) makes that choice by measured costs
// instead, and also sets the number of TCP streams and the length of segments. It is a
// file, so runs with the same profile get the same bits. Options.Tuning.Calibrate measures with
// the first operation; the choice may then differ from run to run. Options.Tuning.Algo
// overrides both. Comm.Choice returns what was chosen.
//
// # Damaged data
//
// Ethernet, TCP and RDMA check what they carry. Damage that they miss, in a switch or a
// memory module, is always found in the header of a message, and with Options.Transport.Checksum
// in its payload. The receiving rank then gives up the connection: the data is sent
// again on another rail if there is one, else all ranks get a *PeerLostError.
//
// # Memory
//
// Buffers may be any memory. Those from Comm.Alloc are faster where ranks share a
// machine or use RDMA: peers work on them directly. Ranks of one machine also read long
// ordinary buffers from each other's memory if the system allows it, which it does for
// processes of one user unless kernel.yama.ptrace_scope is above 0
// (Options.Transport.NoPeerReads turns it off). Buffers of 4 MiB and more that are used three
// times are moved to huge pages, which takes about a millisecond for 2 MiB, once
// (Options.Transport.NoHugePages turns it off).
//
// # Diagnostics
//
// Every rank records its last operations. With Options.Diagnostics.DumpDir, the record is written to
// a file when a group fails and at SIGUSR1; 'thunder inspect' merges those files and
// says who was late or called something else. With Options.Diagnostics.Metrics, a rank serves
// metrics for Prometheus. Warnings go to Options.Diagnostics.Logger, or to standard error;
// THUNDER_LOG sets the level. 'thunder env' lists all variables.
package thunder
