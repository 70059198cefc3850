// Package remote starts the agents of a job: as a child process on the
// launcher's own machine, and through the system's ssh on others, so that the
// user's ssh configuration, agent and jump hosts apply.
//
// ssh runs in batch mode, without a terminal. A host that asks for a password causes an
// error within seconds instead of a prompt. The messages of ssh become a HostError with
// the cause and the remedy.
package remote
