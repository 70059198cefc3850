// Package detect recognises a process that another project's launcher started as a rank
// of a job, and tells its rank, the number of ranks and where rank 0 is. Detect depends
// only on its Source: environment, host name, files and parent process.
//
//	launcher      recognised by                              where ranks find rank 0
//	torchrun      RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT MASTER_ADDR, a port derived from MASTER_PORT
//	mpirun        OMPI_COMM_WORLD_RANK (Open MPI),           loopback on one machine; else the machine of
//	              PMI_RANK (MPICH, Intel MPI)                mpirun (Open MPI), or what the user sets
//	srun          SLURM_PROCID with SLURM_STEP_ID            the step's first node, a port derived from the step
//	mlx.launch    MLX_RANK                                   MLX_HOSTFILE as it is, or a port derived from
//	                                                         MLX_JACCL_COORDINATOR or NCCL_PORT
//	kubernetes    KUBERNETES_SERVICE_HOST with the index of  pod 0 of the headless service, DefaultPort
//	              an indexed Job or StatefulSet, and
//	              THUNDER_WORLD_SIZE or WORLD_SIZE
//
// They are tried in this order, innermost first: mpirun and torchrun are often run
// under srun, and srun in a pod. If none matches, Detect reports so, without an error.
// If one matches but its variables are malformed, the error is an *Error that names the
// variable.
//
// The project's own variables (THUNDER_*) are not read here, except for the world size,
// which Kubernetes does not provide, and the ports; the caller lets them override the
// result.
//
// Ports that all ranks must know in advance are derived from the job's identity, in a
// range that neither Linux nor macOS assigns by itself: 21001 to 29000, or that of
// THUNDER_PORTS. torchrun listens on MASTER_PORT itself, so that cannot be the one. A batch script that srun did not
// start is not a rank, although Slurm sets SLURM_PROCID in it.
//
// Open MPI gives all ranks of a job the same random transport key. The job's token is
// derived from it, so that ranks on several machines authenticate each other without
// further configuration. The other launchers share no secret: with them, a job on
// several machines needs THUNDER_TOKEN or THUNDER_TOKEN_FILE.
package detect
