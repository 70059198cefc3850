// Package environ computes the environment of a launched rank, so that programs of
// different frameworks find each other. It has no side effects: it turns a Job into
// variables and the contents of files.
//
//	ours      THUNDER_RANK, THUNDER_WORLD_SIZE, THUNDER_LOCAL_RANK, THUNDER_LOCAL_WORLD_SIZE,
//	          THUNDER_COORDINATOR, THUNDER_COORDINATOR_SERVED, THUNDER_ADDR, THUNDER_EDGES,
//	          THUNDER_GENERATION, THUNDER_TOKEN_FILE (a file)
//	torchrun  RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK, GROUP_WORLD_SIZE,
//	          MASTER_ADDR, MASTER_PORT
//	MLX       MLX_RANK, MLX_WORLD_SIZE, MLX_HOSTFILE (a file), MLX_JACCL_COORDINATOR,
//	          MLX_IBV_DEVICES (a file, when the hostfile names RDMA devices)
//	Open MPI  OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE, _NODE_RANK
//
// All addresses and ports in them are the job's own: the agents choose free ports.
package environ
