// Package launch runs a program as the ranks of a job, on this machine and on
// others over ssh, and sees to it that all of them end.
//
//	err := launch.Run(ctx, launch.Config{
//		Hosts: list,                          // hosts.ParseList("a,b:2")
//		Argv:  []string{"./train", "-fast"},
//		...
//	})
//
// Run starts an agent on every machine (package remote), which reads from its
// stdin what to run (packages wire and agent) and runs the ranks of its machine
// (package local). Ranks find each other through their environment (package
// environ), and their lines are shown by package output. Nothing but ssh and the
// thunder binary has to be on a machine.
//
// # A generation
//
// All machines first greet and compare versions; then all prepare: find the
// program and the folder, unpack what is copied, take ports. Only when everyone
// is ready does any rank start, so that a typing mistake starts nothing
// anywhere. The agent of rank 0's machine serves the job's coordinator: its port
// cannot be taken by anyone else in between. It is met at the first address that
// the hostfile has for that machine, or, where Config.Edges says that not all
// machines are joined, where ssh reaches it.
//
// The job's token is made here, travels in the frames, and is put into a file
// that only the user can read. It is on no command line and in no log.
//
// # The end
//
// The first rank that fails, the loss of a machine, an interrupt, and the
// timeout all end the job: other ranks have Config.Linger to notice by
// themselves, then SIGTERM, and Config.Grace later SIGKILL, to their process
// groups; under five seconds in all. A second interrupt is SIGKILL at once.
//
// When the launcher itself is killed, its agents see the end of their stdin and
// do the same; when a machine is cut off, its agent notices the silence. When an
// agent is killed, the watcher of package local is left.
//
// # Restarts
//
// After a failure, a job with Config.Restarts left goes on. Whether its other ranks
// live on is up to the program: one that calls Comm.Reform asks the job's coordinator
// for the next generation, of which the agent that serves it tells us. When every
// rank has either ended or asked, those that ended are started again, in that
// generation, and the others meet them there. Nothing has to be said beforehand, and
// nothing hangs: a program that does not re-form ends by itself when it loses a peer,
// or is ended after Config.ReformWait; one that has not yet met the others, or uses
// another library, is ended after the linger. Then all ranks are started again, with
// all that a generation begins with, as they are after the loss of a machine.
//
// Run's error says who was at fault, and has the exit code: that of the first rank that
// failed. Ranks that use this library say because of whom they fail (package
// internal/blame), so that a victim which died before its peer is not taken for the first;
// of others the one counts that ended first.
package launch
