// Package wire is how the launcher and its agents talk: frames over a pair of
// byte streams, which are the stdin and stdout of a local process or of one that
// ssh runs on another machine.
//
// An agent greets first, with Preamble, which lets the launcher skip whatever a
// remote shell's start-up files print, and then with Hello. From then on both
// sides send frames:
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
// After Finished comes the next generation's Prepare, or the end of the stream,
// which is also how an agent learns that the launcher is gone.
//
// Control frames are JSON; output, input and copied files are raw.
package wire
