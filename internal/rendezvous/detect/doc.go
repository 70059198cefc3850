// Package detect recognises ranks that somebody else's launcher started, and
// says who they are: Detect is a pure function of the environment.
//
//	launcher      recognised by                              rank 0 is met at
//	torchrun      RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT MASTER_ADDR, a port derived from MASTER_PORT
//	mpirun        OMPI_COMM_WORLD_RANK (Open MPI),           loopback on one machine; else the machine mpirun
//	              PMI_RANK (MPICH, Intel MPI)                runs on (Open MPI), or what the user says
//	srun          SLURM_PROCID with SLURM_STEP_ID            the step's first node, a port derived from the step
//	mlx.launch    MLX_RANK                                   MLX_HOSTFILE as it is, or a port derived from
//	                                                         MLX_JACCL_COORDINATOR or NCCL_PORT
//	kubernetes    KUBERNETES_SERVICE_HOST with the index of  pod 0 of the headless service, DefaultPort
//	              an indexed Job or StatefulSet, and
//	              THUNDER_WORLD_SIZE or WORLD_SIZE
//
// They are tried in this order, innermost first: mpirun and torchrun are often
// run under srun, and srun in a pod. Variables of the project's own (THUNDER_*)
// are not looked at here, except the world size that Kubernetes does not tell;
// the caller lets each of them override what was detected.
//
// A port that has to be agreed on without talking is derived from what names the
// job, in a range that neither Linux nor macOS hands out by itself. A batch
// script that was not started by srun is not a rank, although Slurm sets
// SLURM_PROCID in it.
//
// Open MPI gives every rank of a job the same random transport key in the
// environment; the job's token is derived from it, so that ranks on several
// machines authenticate each other without a flag. The other launchers share no
// secret: there, a job that spans machines needs THUNDER_TOKEN or
// THUNDER_TOKEN_FILE.
package detect
