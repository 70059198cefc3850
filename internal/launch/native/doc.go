// Package native writes what other software wants to know about the machines of
// a job, in its own form, for users who start that software themselves:
//
//	mlx       the hostfile of mlx.launch
//	torch     the torchrun command line for each machine
//	nccl      an nccl.conf for each machine
//	llamacpp  the rpc-server and llama.cpp command lines
package native
