package detect

import (
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"strconv"
	"strings"

	"thundercollective/internal/env"
)

// DefaultPort is the port of rank 0 if it has a network address of its own, as a pod
// has.
const DefaultPort = 21000

// Derived ports lie in [portBase, portBase+portCount).
const (
	portBase  = 21001
	portCount = 8000
)

// A Job is what a launcher tells this process.
type Job struct {
	Launcher    string // "torchrun", "mpirun", "srun", "mlx.launch", "kubernetes"
	Rank        int
	Size        int
	LocalRank   int    // among the ranks on this machine; 0 if the launcher does not tell
	Coordinator string // host:port where rank 0 listens and the others register; "" with Hostfile
	Hostfile    string // the addresses of all ranks, in MLX's format; "" with Coordinator
	Token       []byte // a secret that only the ranks of this job know; nil if there is none
	Generation  uint32 // number of restarts
}

// A Source is what Detect reads.
type Source struct {
	Getenv   func(string) string
	Hostname func() (string, error)
	ReadFile func(string) ([]byte, error)
	Getppid  func() int
}

// System returns the Source of this process.
func System() Source {
	return Source{Getenv: os.Getenv, Hostname: os.Hostname, ReadFile: os.ReadFile, Getppid: os.Getppid}
}

// An Error reports that a launcher was recognised but set a variable wrongly.
type Error struct {
	Launcher string
	Variable string
	Value    string
	Reason   string
}

func (e *Error) Error() string {
	return fmt.Sprintf("started by %s, but %s=%q: %s", e.Launcher, e.Variable, e.Value, e.Reason)
}

// Detect returns the job that a launcher started this process for; ok is false if it
// recognises no launcher. The error is an *Error, or a *HalfSetError.
func Detect(s Source) (job Job, ok bool, err error) {
	for _, l := range []struct {
		name  string
		sign  string // the variable that identifies it
		parse func(*reader) Job
	}{
		{"torchrun", "MASTER_PORT", torchrun},
		{"mpirun", "OMPI_COMM_WORLD_RANK", openMPI},
		{"mpirun", "PMI_RANK", hydra},
		{"srun", "SLURM_STEP_ID", srun},
		{"mlx.launch", "MLX_RANK", mlxLaunch},
		{"kubernetes", "KUBERNETES_SERVICE_HOST", kubernetes},
	} {
		if s.Getenv(l.sign) == "" {
			continue
		}
		r := &reader{Source: s, launcher: l.name}
		job := l.parse(r)
		if r.absent {
			continue
		}
		if r.err == nil && (job.Rank < 0 || job.Rank >= job.Size) {
			r.fail(l.sign, s.Getenv(l.sign), fmt.Sprintf("rank %d of %d ranks", job.Rank, job.Size))
		}
		if r.err != nil {
			return Job{}, false, r.err
		}
		job.Launcher = l.name
		return job, true, nil
	}
	return Job{}, false, halfSet(s.Getenv)
}

// A HalfSetError reports that only some of the variables are set by which a rank of
// torchrun finds the others.
type HalfSetError struct {
	Set, Missing []string
}

func (e *HalfSetError) Error() string {
	set, missing := strings.Join(e.Set, " and "), strings.Join(e.Missing, " and ")
	return fmt.Sprintf("%s of a job of several ranks, but without %s; set %s too, or unset %s to run alone", set, missing, missing, set)
}

// halfSet returns a *HalfSetError if the variables of torchrun are incomplete. A world
// size of 1 needs no more, and neither MASTER_ADDR nor WORLD_SIZE alone makes a rank.
func halfSet(getenv func(string) string) error {
	var e HalfSetError
	for _, name := range []string{"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"} {
		if getenv(name) != "" {
			e.Set = append(e.Set, name)
		} else {
			e.Missing = append(e.Missing, name)
		}
	}
	rank, size := getenv("RANK") != "", getenv("WORLD_SIZE")
	if size == "1" || len(e.Missing) == 0 || len(e.Set) < 2 || !rank && size == "" {
		return nil
	}
	return &e
}

// A reader reads the variables of one launcher, and keeps the first error.
type reader struct {
	Source
	launcher string
	absent   bool // a required variable is missing: it is not this launcher
	err      error
}

func (r *reader) fail(name, value, reason string) {
	if r.err == nil {
		r.err = &Error{Launcher: r.launcher, Variable: name, Value: value, Reason: reason}
	}
}

// required returns a variable that the launcher always sets.
func (r *reader) required(name string) string {
	v := r.Getenv(name)
	if v == "" {
		r.absent = true
	}
	return v
}

// count returns a required number.
func (r *reader) count(name string) int { return r.number(name, r.required(name)) }

// optional returns a number, 0 if it is not set.
func (r *reader) optional(name string) int { return r.number(name, r.Getenv(name)) }

func (r *reader) number(name, v string) int {
	if v == "" {
		return 0
	}
	n, err := strconv.ParseUint(v, 10, 31)
	if err != nil {
		r.fail(name, v, "not a number")
	}
	return int(n)
}

// coordinatorAt returns the address of a coordinator on host, with a port derived from
// seed: one of those that the user allows, if any.
func (r *reader) coordinatorAt(host string, seed ...any) string {
	h := fnv.New32a()
	fmt.Fprint(h, seed...)
	first, count := portBase, portCount
	if p := r.ports(); p.First != 0 {
		first, count = p.First, p.Last-p.First+1
	}
	return net.JoinHostPort(host, strconv.Itoa(first+int(h.Sum32()%uint32(count))))
}

// ports returns the ports that the user allows; zero for all. Whoever reads the other
// variables of a rank reports if the value is wrong.
func (r *reader) ports() env.PortRange { return (&env.Reader{Getenv: r.Getenv}).Ports(env.Ports) }
