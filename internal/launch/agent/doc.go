// Package agent is the launcher's representative on a machine: a process that
// reads what to run from its stdin, runs this machine's ranks with package
// local, and reports on its stdout, both in the frames of package wire.
//
// The same agent serves the launcher's own machine, as a child process, and
// others, through ssh. It exists for as long as its stdin does: when the
// launcher goes away, however it does, or the connection is cut, or nothing is
// heard for the agreed time, the agent ends its ranks and itself.
//
// Secrets come in over stdin and go into files in a folder that only the user
// can read; the folder is removed at the end.
package agent
