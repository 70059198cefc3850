// Package native writes the configuration of other software for the machines of a job,
// for users who start that software themselves:
//
//	mlx       the hostfile of mlx.launch
//	torch     the torchrun command line for each machine
//	nccl      an nccl.conf for each machine
//	llamacpp  the rpc-server and llama.cpp command lines
package native
