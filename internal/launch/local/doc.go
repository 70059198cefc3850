// Package local runs N copies of a program as the ranks of one job on this
// machine and sees every one of them through to its end.
//
//	err := local.Run(ctx, local.Config{
//		Argv:   []string{"prog", "arg"},
//		Ranks:  4,
//		Env:    func(rank int) []string { return []string{"RANK=" + strconv.Itoa(rank)} },
//		Stdout: func(int) io.Writer { return os.Stdout },
//	})
//
// # Life
//
// Run returns nil when every rank exited with code 0, and otherwise an
// *ExitError for the rank that failed first (on Linux in the order in which the
// kernel saw them die, not the order in which we got to look). After the first
// failure the others have Config.Linger to find out by themselves and say so in
// their output; then each process group gets SIGTERM, and SIGKILL Config.Grace
// later; with Config.Keep that is up to the caller. The end of the context asks for the same without the linger, closing
// Config.Now for SIGKILL at once. When the last rank is gone, whatever ranks
// left running in the background is ended too.
//
// # No process is left behind
//
// A rank is an arbitrary program that may fork, ignore signals and start
// sessions of its own, and this process may be killed with SIGKILL at any time.
// Four things together cover that:
//
//   - Every rank leads its own process group, and signals go to the group, so
//     children it forked get them too. A program that signals its own group
//     ("kill 0" in a shell script) hits itself alone. They share our session:
//     Linux schedules sessions as wholes, and ranks of different ones could not
//     offer each other the processor. Run ignores the signals that would stop
//     ranks which touch our terminal; they get an error instead.
//   - A watcher, a few lines of /bin/sh in a session of its own, knows the groups
//     and holds the read end of a pipe whose only writer is this process. When
//     this process dies, in whatever way, the watcher sees the end of the pipe
//     and ends the groups. It works for any program on any Unix, and needs no
//     cooperation from the ranks or from the binary that uses this package,
//     which a supervisor mode of the same binary would.
//   - On Linux, the parent-death signal covers the moment between the start of a
//     rank and the watcher hearing of it. It is not enough by itself: it misses
//     what the rank forked, and is tied to the thread that started the rank, so
//     that thread is kept for as long as Run lasts.
//   - Every rank carries a random mark in its environment. At the end of Run, a
//     process of ours that still carries it has left its group on purpose (a
//     daemon, a worker in its own session) and is killed.
//
// # Output
//
// Lines are never torn: writers get whole lines only, one Write at a time for
// the whole job, so ranks may share one writer. What a rank wrote before it died
// is delivered before Run returns, including a last line without its newline.
package local
