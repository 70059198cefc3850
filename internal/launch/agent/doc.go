// Package agent implements the launcher's agent on a machine: a process that reads from
// its stdin what to run, runs this machine's ranks with package local, and reports on
// its stdout, both in the frames of package wire.
//
// On the launcher's own machine the agent is a child process; on others it runs through
// ssh. It lives as long as its stdin: if the launcher exits in any way, if the
// connection is cut, or if no heartbeat arrives for the agreed time, the agent ends its
// ranks and itself.
//
// Secrets arrive over stdin and are written to files in a directory that only the user
// can read. The directory is removed at the end.
package agent
