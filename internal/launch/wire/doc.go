// Package wire is the protocol between the launcher and its agents: frames over a pair
// of byte streams, the stdin and stdout of a local process or of one that ssh runs on
// another machine.
//
// An agent first sends Preamble, so that the launcher can skip what a remote shell's
// start-up files print, and then Hello. After that both sides send frames:
//
//	launcher                      agent
//	                              Hello
//	Prepare (Copy... CopyEnd)     Ready, or Failed
//	Start                         Started, Output, Exited per rank
//	Stdin, StdinEnd               StdinTaken
//	                              Reforming per rank, of the coordinator's machine
//	Next                          Next, by the same
//	Start, of ranks that ended    as above; each Start has its Finished
//	Terminate, Kill               Finished, when all ranks of a Start are gone
//	Ping, every second
//
// Finished is followed by the next generation's Prepare, or by the end of the stream,
// which also tells an agent that the launcher is gone.
//
// Control frames are JSON; output, input and copied files are raw.
package wire
