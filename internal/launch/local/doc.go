// Package local runs N copies of a program as the ranks of a job on this machine and
// makes sure that all of them end.
//
//	err := local.Run(ctx, local.Config{
//		Argv:   []string{"prog", "arg"},
//		Ranks:  4,
//		Env:    func(rank int) []string { return []string{"RANK=" + strconv.Itoa(rank)} },
//		Stdout: func(int) io.Writer { return os.Stdout },
//	})
//
// # Start and end
//
// Run returns nil if every rank exited with code 0, and otherwise an *ExitError for the
// rank that failed first (on Linux, in the order in which they died, not the order in
// which their ends were noticed). After the first failure the others have Config.Linger
// to notice it and report it in their output. Then each process group gets SIGTERM and,
// Config.Grace later, SIGKILL; with Config.Keep the caller decides that. The end of the
// context does the same without the linger, and closing Config.Now sends SIGKILL
// immediately. When the last rank is gone, background processes that ranks left behind
// are ended too.
//
// # No process is left behind
//
// A rank is an arbitrary program that may fork, ignore signals and start sessions of its
// own, and this process may be killed with SIGKILL at any time. Four mechanisms together
// cover that:
//
//   - Every rank leads its own process group, and signals go to the group, so
//     children it forked get them too. A program that signals its own group
//     ("kill 0" in a shell script) affects only itself. All ranks are in our session:
//     Linux schedules each session as a unit, and ranks of different sessions could
//     not yield the processor to each other. Run ignores the signals that would stop
//     ranks that access our terminal; they get an error instead.
//   - A watcher, a few lines of /bin/sh in a session of its own, knows the groups
//     and holds the read end of a pipe whose only writer is this process. When this
//     process dies, in whatever way, the watcher sees the end of the pipe and ends
//     the groups. It works for any program on any Unix, and needs no cooperation
//     from the ranks or from the binary that uses this package, unlike a supervisor
//     mode of that binary.
//   - On Linux, the parent-death signal covers the moment between the start of a
//     rank and the watcher being told about it. It is not sufficient alone: it does
//     not reach what the rank forked, and it is tied to the thread that started the
//     rank, so that thread is kept until Run returns.
//   - Every rank has a random mark in its environment. A process that still has it at
//     the end of Run has left its group on purpose (a daemon, a worker in its own
//     session) and is killed.
//
// # Output
//
// Writers receive whole lines only, one Write at a time for the whole job, so ranks may
// share one writer. What a rank wrote before it died is delivered before Run returns,
// including a last line without a newline.
package local
