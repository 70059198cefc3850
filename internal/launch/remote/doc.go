// Package remote starts the agents of a job: as a child process on the
// launcher's own machine, and through the system's ssh on others, so that the
// user's ssh configuration, agent and jump hosts apply.
//
// ssh runs without a terminal and in batch mode. A host that wants a password is
// an error that comes in seconds, not a prompt that waits. What ssh says when it
// fails is turned into a HostError with the cause and what to do about it.
package remote
