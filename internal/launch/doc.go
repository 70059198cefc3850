// Package launch runs a program as the ranks of a job, on this machine and on others
// over ssh, and makes sure that all of them end.
//
//	err := launch.Run(ctx, launch.Config{
//		Hosts: list,                          // hosts.ParseList("a,b:2")
//		Argv:  []string{"./train", "-fast"},
//		...
//	})
//
// Run starts an agent on every machine (package remote). The agent reads from its stdin
// what to run (packages wire and agent) and runs the ranks of its machine (package
// local). Ranks find each other through their environment (package environ). Package
// output shows their lines. A machine needs only ssh and the thunder binary.
//
// # Starting a generation
//
// All machines first introduce themselves, and Run compares their versions. Then all
// prepare: they find the program and the directory, unpack copied files, and reserve
// ports. Ranks start only when all machines are ready, so a typing mistake starts
// nothing anywhere. The agent on rank 0's machine serves the job's coordinator, so that
// no other process can take its port in between. The ranks reach it at the first
// address that the hostfile has for that machine or, if Config.Edges does not connect
// all machines, at the address that ssh uses.
//
// Run creates the job's token and sends it in the frames; agents write it to a file that
// only the user can read. It appears on no command line and in no log.
//
// # Ending the job
//
// The first rank that fails, the loss of a machine, an interrupt and the timeout all end
// the job. The other ranks have Config.Linger to notice on their own; then their process
// groups get SIGTERM and, Config.Grace later, SIGKILL. This takes less than five seconds
// in total. A second interrupt sends SIGKILL immediately.
//
// If the launcher itself is killed, its agents see the end of their stdin and do the
// same. If a machine is cut off, its agent notices the missing heartbeats. If an agent
// is killed, the watcher of package local ends its ranks.
//
// # Restarts
//
// After a failure, a job that has Config.Restarts left continues. The program decides
// whether its other ranks survive: one that calls Comm.Reform asks the job's coordinator
// for the next generation, and the agent that serves the coordinator reports this to
// Run. When every rank has either ended or asked, Run restarts those that ended in that
// generation, and the others meet them there. This needs no configuration, and nothing
// hangs: a program that does not re-form fails when it loses a peer, or is ended after
// Config.ReformWait; one that has not met the others yet, or uses another library, is
// ended after the linger. Then all ranks are restarted, in a new generation with all its
// preparations, as they are after the loss of a machine.
//
// Run's error names the rank at fault and has its exit code. Ranks that use this library
// report which rank caused them to fail (package internal/blame), so a victim that died
// before its peer is not taken for the cause. Among other programs, it is the rank that
// ended first.
package launch
