package detect

import (
	"errors"
	"io/fs"
	"net"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// source is a Source made of "K=V" lines, a host name and files.
func source(env, host string, files map[string]string) Source {
	vars := map[string]string{}
	for line := range strings.FieldsSeq(env) {
		k, v, _ := strings.Cut(line, "=")
		vars[k] = v
	}
	return Source{
		Getenv:   func(k string) string { return vars[k] },
		Hostname: func() (string, error) { return host, nil },
		Getppid:  func() int { return 4711 },
		ReadFile: func(name string) ([]byte, error) {
			if s, ok := files[name]; ok {
				return []byte(s), nil
			}
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		},
	}
}

const (
	torchEnv = `RANK=3 WORLD_SIZE=4 LOCAL_RANK=1 MASTER_ADDR=10.0.0.1 MASTER_PORT=29500 TORCHELASTIC_RUN_ID=none TORCHELASTIC_RESTART_COUNT=2`
	ompiEnv  = `OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=2 OMPI_COMM_WORLD_LOCAL_SIZE=4 PMIX_NAMESPACE=812646401`
	ompiFar  = `OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=812646401
		OMPI_MCA_orte_hnp_uri=812646400.0;tcp://192.0.2.2,198.51.100.2:40285;tcp6://[fd00::2]:41745`
	slurmEnv = `SLURM_JOB_ID=17 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_LOCALID=1 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=1 SLURM_STEP_NODELIST=n1`
	slurmFar = `SLURM_JOB_ID=17 SLURM_STEP_ID=0 SLURM_PROCID=3 SLURM_LOCALID=1 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=2 SLURM_STEP_NODELIST=rack[02-03]n[7,9],x`
	k8sEnv   = `KUBERNETES_SERVICE_HOST=10.96.0.1 JOB_COMPLETION_INDEX=2 THUNDER_WORLD_SIZE=4`
	podHosts = "127.0.0.1 localhost\n10.1.2.3\ttrain-2.fabric.default.svc.cluster.local\ttrain-2\n"
)

func TestDetect(t *testing.T) {
	for _, tt := range []struct {
		name, env, host string
		files           map[string]string
		want            Job    // Coordinator without its port where that is derived
		port            string // "" for a derived one
	}{
		{name: "torchrun", env: torchEnv,
			want: Job{Launcher: "torchrun", Rank: 3, Size: 4, LocalRank: 1, Coordinator: "10.0.0.1", Generation: 2}},
		{name: "torchrun under srun", env: torchEnv + " " + slurmEnv,
			want: Job{Launcher: "torchrun", Rank: 3, Size: 4, LocalRank: 1, Coordinator: "10.0.0.1", Generation: 2}},
		{name: "mpirun on one machine", env: ompiEnv,
			want: Job{Launcher: "mpirun", Rank: 2, Size: 4, LocalRank: 2, Coordinator: loopback}},
		{name: "mpirun on several", env: ompiFar,
			want: Job{Launcher: "mpirun", Rank: 2, Size: 4, Coordinator: "192.0.2.2"}},
		{name: "mpirun under srun", env: ompiEnv + " " + slurmEnv,
			want: Job{Launcher: "mpirun", Rank: 2, Size: 4, LocalRank: 2, Coordinator: loopback}},
		{name: "mpich on one machine", env: `PMI_RANK=1 PMI_SIZE=2 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2`,
			want: Job{Launcher: "mpirun", Rank: 1, Size: 2, LocalRank: 1, Coordinator: loopback}},
		{name: "mpich on several", env: `PMI_RANK=1 PMI_SIZE=2 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=1`,
			want: Job{Launcher: "mpirun", Rank: 1, Size: 2}},
		{name: "srun on one machine", env: slurmEnv,
			want: Job{Launcher: "srun", Rank: 1, Size: 4, LocalRank: 1, Coordinator: loopback}},
		{name: "srun on several", env: slurmFar,
			want: Job{Launcher: "srun", Rank: 3, Size: 4, LocalRank: 1, Coordinator: "rack02n7"}},
		{name: "mlx ring", env: `MLX_RANK=1 MLX_HOSTFILE=/h.json`, files: map[string]string{"/h.json": `[["10.0.0.1:5000"],["10.0.0.2:5000","10.1.0.2:5000"]]`},
			want: Job{Launcher: "mlx.launch", Rank: 1, Size: 2, Hostfile: "/h.json"}},
		{name: "mlx jaccl", env: `MLX_RANK=0 MLX_IBV_DEVICES=/d.json MLX_JACCL_COORDINATOR=10.0.0.1:32323`, files: map[string]string{"/d.json": `[[null,"rdma_en5"],["rdma_en5",null]]`},
			want: Job{Launcher: "mlx.launch", Rank: 0, Size: 2, Coordinator: "10.0.0.1"}},
		{name: "mlx nccl", env: `MLX_RANK=1 MLX_WORLD_SIZE=2 NCCL_HOST_IP=10.0.0.1 NCCL_PORT=12345`,
			want: Job{Launcher: "mlx.launch", Rank: 1, Size: 2, Coordinator: "10.0.0.1"}},
		{name: "indexed job", env: k8sEnv, host: "train-2", files: map[string]string{"/etc/hosts": podHosts},
			want: Job{Launcher: "kubernetes", Rank: 2, Size: 4, Coordinator: "train-0.fabric"}, port: "21000"},
		{name: "stateful set", env: `KUBERNETES_SERVICE_HOST=10.96.0.1 WORLD_SIZE=4`, host: "train-2.fabric.default.svc.cluster.local", files: map[string]string{"/etc/hosts": podHosts},
			want: Job{Launcher: "kubernetes", Rank: 2, Size: 4, Coordinator: "train-0.fabric"}, port: "21000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok, err := Detect(source(tt.env, tt.host, tt.files))
			if err != nil || !ok {
				t.Fatalf("ok %v, error %v", ok, err)
			}
			if got.Coordinator != "" {
				host, port, err := net.SplitHostPort(got.Coordinator)
				if err != nil {
					t.Fatal(err)
				}
				if n, _ := strconv.Atoi(port); tt.port == "" && (n < portBase || n >= portBase+portCount) || tt.port != "" && port != tt.port {
					t.Errorf("port %s", port)
				}
				got.Coordinator = host
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestNotARank(t *testing.T) {
	for _, tt := range []struct{ name, env, host string }{
		{"nothing", "", "vm"},
		{"torch variables of something else", "MASTER_PORT=29500 MASTER_ADDR=h", "vm"},
		{"batch script", "SLURM_JOB_ID=17 SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_LOCALID=0", "n1"},
		{"pod without a size", "KUBERNETES_SERVICE_HOST=10.96.0.1 JOB_COMPLETION_INDEX=2", "train-2"},
		{"pod of a deployment", "KUBERNETES_SERVICE_HOST=10.96.0.1 WORLD_SIZE=2", "web-5d4f8c7b9-x2x4z"},
		{"mlx alone", "MLX_RANK=0", "vm"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if job, ok, err := Detect(source(tt.env, tt.host, nil)); ok || err != nil {
				t.Errorf("got %+v, %v", job, err)
			}
		})
	}
}

func TestNonsense(t *testing.T) {
	for _, tt := range []struct{ name, env, host, variable string }{
		{"not a number", "RANK=x WORLD_SIZE=4 MASTER_ADDR=h MASTER_PORT=1", "", "RANK"},
		{"rank too large", "OMPI_COMM_WORLD_RANK=4 OMPI_COMM_WORLD_SIZE=4", "", "OMPI_COMM_WORLD_RANK"},
		{"no hostfile", "MLX_RANK=0 MLX_HOSTFILE=/none", "", "MLX_HOSTFILE"},
		{"bad coordinator", "MLX_RANK=0 MLX_IBV_DEVICES=/d MLX_JACCL_COORDINATOR=x", "", "MLX_JACCL_COORDINATOR"},
		{"pod without a service", k8sEnv, "train-2", "HOSTNAME"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, ok, err := Detect(source(tt.env, tt.host, map[string]string{"/d": "[1]"}))
			var e *Error
			if ok || !errors.As(err, &e) || e.Variable != tt.variable {
				t.Errorf("ok %v, error %v, want one about %s", ok, err, tt.variable)
			}
		})
	}
}

// TestHalfSet: some of torchrun's variables without the others are an error that names
// those that are missing.
func TestHalfSet(t *testing.T) {
	for env, missing := range map[string]string{
		"RANK=0 WORLD_SIZE=2":                             "MASTER_ADDR and MASTER_PORT",
		"RANK=0 WORLD_SIZE=2 MASTER_ADDR=h":               "MASTER_PORT",
		"RANK=1 WORLD_SIZE=2 MASTER_PORT=29500":           "MASTER_ADDR",
		"WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=29500":    "RANK",
		"RANK=1 MASTER_ADDR=h MASTER_PORT=29500":          "WORLD_SIZE",
		"RANK=0 WORLD_SIZE=1":                             "",
		"RANK=0":                                          "",
		"WORLD_SIZE=2":                                    "",
		"RANK=0 WORLD_SIZE=2 PMI_RANK=1 PMI_SIZE=2":       "",
		"RANK=0 WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=1": "",
	} {
		_, _, err := Detect(source(env, "vm", nil))
		var half *HalfSetError
		switch {
		case missing == "" && err != nil:
			t.Errorf("%s: %v", env, err)
		case missing != "" && (!errors.As(err, &half) || !strings.Contains(err.Error(), "without "+missing+";")):
			t.Errorf("%s: got %v, want that %s is missing", env, err, missing)
		}
	}
}

// All ranks of a job come to the same address and token, other jobs to others.
func TestAgreement(t *testing.T) {
	key := " OMPI_MCA_orte_precondition_transports=701cdd95cbc27719-29a32efc44edc571"
	one, _, _ := Detect(source(ompiEnv+key, "a", nil))
	two, _, _ := Detect(source(strings.Replace(ompiEnv, "RANK=2", "RANK=0", 1)+key, "b", nil))
	other, _, _ := Detect(source(ompiEnv+key+"0", "a", nil))
	if one.Coordinator != two.Coordinator || string(one.Token) != string(two.Token) || len(one.Token) != 32 {
		t.Errorf("ranks disagree: %+v, %+v", one, two)
	}
	if one.Coordinator == other.Coordinator || string(one.Token) == string(other.Token) {
		t.Errorf("two jobs meet at %s", one.Coordinator)
	}
}

func TestFirstHost(t *testing.T) {
	for list, want := range map[string]string{
		"vm": "vm", "a,b": "a", "n[1-4]": "n1", "n[08,10]": "n08", "r[2-3]n[07,09],x": "r2n07", "gpu[01-02]-ib": "gpu01-ib", "": "",
	} {
		if got := firstHost(list); got != want {
			t.Errorf("firstHost(%q) = %q, want %q", list, got, want)
		}
	}
}
