package detect

import (
	"crypto/sha256"
	"encoding/json"
	"net"
	"net/url"
	"strings"
)

const loopback = "127.0.0.1"

// torchrun listens on MASTER_PORT itself, so rank 0 uses another port.
func torchrun(r *reader) Job {
	port := r.required("MASTER_PORT")
	restarts := r.optional("TORCHELASTIC_RESTART_COUNT")
	return Job{
		Rank:        r.count("RANK"),
		Size:        r.count("WORLD_SIZE"),
		LocalRank:   r.optional("LOCAL_RANK"),
		Coordinator: r.coordinatorAt(r.required("MASTER_ADDR"), "torchrun", port, r.Getenv("TORCHELASTIC_RUN_ID"), restarts),
		Generation:  uint32(restarts),
	}
}

func openMPI(r *reader) Job {
	job := Job{
		Rank:      r.count("OMPI_COMM_WORLD_RANK"),
		Size:      r.count("OMPI_COMM_WORLD_SIZE"),
		LocalRank: r.optional("OMPI_COMM_WORLD_LOCAL_RANK"),
	}
	id := r.Getenv("PMIX_NAMESPACE") + r.Getenv("OMPI_MCA_ess_base_jobid")
	key := r.Getenv("OMPI_MCA_orte_precondition_transports")
	if key != "" {
		sum := sha256.Sum256([]byte("thunder job token from open mpi transport key " + key))
		job.Token = sum[:]
	}
	host := loopback
	if r.optional("OMPI_COMM_WORLD_LOCAL_SIZE") != job.Size {
		host = mpirunHost(r.Getenv("OMPI_MCA_orte_hnp_uri"))
	}
	if host != "" {
		job.Coordinator = r.coordinatorAt(host, "mpirun", id, key)
	}
	return job
}

// mpirunHost returns the first IPv4 address in mpirun's own contact string, such as
// "812646400.0;tcp://192.0.2.2,198.51.100.2:40285;tcp6://...". By default, mpirun starts
// rank 0 on the machine it runs on.
func mpirunHost(uri string) string {
	for part := range strings.SplitSeq(uri, ";") {
		if u, err := url.Parse(part); err == nil && u.Scheme == "tcp" {
			first, _, _ := strings.Cut(u.Host, ",")
			host, _, _ := strings.Cut(first, ":")
			return host
		}
	}
	return ""
}

// hydra is the launcher of MPICH and Intel MPI. It sets no variable that identifies the
// job, so the port is derived from the proxy process that started all ranks of the
// machine.
func hydra(r *reader) Job {
	job := Job{
		Rank:      r.count("PMI_RANK"),
		Size:      r.count("PMI_SIZE"),
		LocalRank: r.optional("MPI_LOCALRANKID"),
	}
	if r.optional("MPI_LOCALNRANKS") == job.Size {
		job.Coordinator = r.coordinatorAt(loopback, "hydra", r.Getppid())
	}
	return job
}

// srun runs one task per rank. Task 0 is on the first node of the step.
func srun(r *reader) Job {
	job := Job{
		Rank:       r.count("SLURM_PROCID"),
		Size:       r.count("SLURM_STEP_NUM_TASKS"),
		LocalRank:  r.optional("SLURM_LOCALID"),
		Generation: uint32(r.optional("SLURM_RESTART_COUNT")),
	}
	host := loopback
	if r.count("SLURM_STEP_NUM_NODES") > 1 {
		host = firstHost(r.required("SLURM_STEP_NODELIST"))
	}
	job.Coordinator = r.coordinatorAt(host, "srun", r.Getenv("SLURM_JOB_ID"), "/", r.Getenv("SLURM_STEP_ID"), "/", job.Generation)
	return job
}

// firstHost returns the first name of a Slurm host list such as "rack[2-3]n[07,09],x".
func firstHost(list string) string {
	var name strings.Builder
	for list != "" && list[0] != ',' {
		if list[0] != '[' {
			name.WriteByte(list[0])
			list = list[1:]
			continue
		}
		ranges, rest, _ := strings.Cut(list[1:], "]")
		if i := strings.IndexAny(ranges, ",-"); i >= 0 {
			ranges = ranges[:i]
		}
		name.WriteString(ranges)
		list = rest
	}
	return name.String()
}

// mlxLaunch sets different variables for each backend: ring writes the addresses of all
// ranks to a file, jaccl and nccl tell the address where rank 0 listens.
func mlxLaunch(r *reader) Job {
	job := Job{Rank: r.count("MLX_RANK")}
	devices := r.Getenv("MLX_IBV_DEVICES")
	switch {
	case r.Getenv("MLX_HOSTFILE") != "":
		job.Hostfile = r.Getenv("MLX_HOSTFILE")
		job.Size = r.entries("MLX_HOSTFILE", job.Hostfile)
	case devices != "":
		job.Size = r.entries("MLX_IBV_DEVICES", devices)
		addr := r.required("MLX_JACCL_COORDINATOR")
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			r.fail("MLX_JACCL_COORDINATOR", addr, "not host:port")
		}
		job.Coordinator = r.coordinatorAt(host, "jaccl", addr)
	default:
		job.Size = r.count("MLX_WORLD_SIZE")
		job.Coordinator = r.coordinatorAt(r.required("NCCL_HOST_IP"), "nccl", r.required("NCCL_PORT"))
	}
	return job
}

// entries returns the length of the JSON array in the file that a variable names. It has
// one entry per rank.
func (r *reader) entries(variable, file string) int {
	b, err := r.ReadFile(file)
	if err != nil {
		r.fail(variable, file, err.Error())
		return 0
	}
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil {
		r.fail(variable, file, "not a JSON array with an entry per rank: "+err.Error())
	}
	return len(list)
}
