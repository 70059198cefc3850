package environ

import (
	"slices"
	"strings"
	"testing"

	"thundercollective/internal/launch/hosts"
)

// twoHosts is a job of three ranks: one on a, two on b, with two rails each.
func twoHosts() *Job {
	list := []hosts.Host{
		{Name: "a", Slots: 1, Addrs: []string{"10.0.0.1", "fd00::1"}, RDMA: [][]string{nil, {"rdma_en5"}}},
		{Name: "b", Slots: 2, Addrs: []string{"10.0.0.2", "fd00::2"}, RDMA: [][]string{{"rdma_en4", "rdma_en5"}, nil}},
	}
	return &Job{
		Hosts: list, Place: hosts.Place(list),
		Addrs: []string{"10.0.0.1", "10.0.0.2"},
		Ports: [][]string{strings.Fields("100 101 102 103 104"), strings.Fields("200 201 202 203 204 205 206")},
		Edges: "0=1@10", Served: true, Token: "swordfish", Generation: 2, Columns: 90, Lines: 24,
	}
}

func TestRank(t *testing.T) {
	got := twoHosts().Rank(2)
	want := strings.Fields(`
		THUNDER_RANK=2 THUNDER_WORLD_SIZE=3 THUNDER_LOCAL_RANK=1 THUNDER_LOCAL_WORLD_SIZE=2
		RANK=2 WORLD_SIZE=3 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2
		OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2
		THUNDER_COORDINATOR=10.0.0.1:100 THUNDER_COORDINATOR_SERVED=1 THUNDER_GENERATION=2 THUNDER_TOKEN= THUNDER_EDGES=0=1@10
		THUNDER_ADDR=10.0.0.2:0,[fd00::2]:0
		GROUP_RANK=1 GROUP_WORLD_SIZE=2 MASTER_ADDR=10.0.0.1 MASTER_PORT=101 OMPI_COMM_WORLD_NODE_RANK=1
		MLX_RANK=2 MLX_WORLD_SIZE=3 MLX_JACCL_COORDINATOR=10.0.0.1:102 COLUMNS=90 LINES=24`)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if s := strings.Join(got, "\n"); strings.Contains(s, "swordfish") {
		t.Error("the token is in the environment")
	}
}

func TestFiles(t *testing.T) {
	j := twoHosts()
	for name, want := range map[string]string{
		"THUNDER_TOKEN_FILE": "swordfish\n",
		"MLX_HOSTFILE":       `[["10.0.0.1:103","[fd00::1]:104"],["10.0.0.2:203","[fd00::2]:204"],["10.0.0.2:205","[fd00::2]:206"]]` + "\n",
		"MLX_IBV_DEVICES":    `[[null,"rdma_en5","rdma_en5"],[["rdma_en4","rdma_en5"],null,null],[["rdma_en4","rdma_en5"],null,null]]` + "\n",
	} {
		if got := j.Files()[name]; got != want {
			t.Errorf("%s: got  %s, want %s", name, got, want)
		}
	}
}

func TestPortCount(t *testing.T) {
	j := twoHosts()
	for m, ports := range j.Ports {
		if n := PortCount(j.Hosts, j.Place, m); n != len(ports) {
			t.Errorf("machine %d needs %d ports, want %d", m, n, len(ports))
		}
	}
}

// Without rails, devices and a terminal, nothing speaks of them.
func TestPlainJob(t *testing.T) {
	list := []hosts.Host{{Name: "localhost", Slots: 1}}
	j := &Job{Hosts: list, Place: hosts.Place(list), Addrs: []string{"127.0.0.1"}, Ports: [][]string{strings.Fields("1 2 3 4")}}
	for _, kv := range j.Rank(0) {
		for _, name := range []string{"THUNDER_ADDR", "THUNDER_COORDINATOR_SERVED", "MLX_JACCL_COORDINATOR", "COLUMNS", "LINES"} {
			if strings.HasPrefix(kv, name+"=") {
				t.Errorf("set %s", kv)
			}
		}
	}
	if f := j.Files(); len(f) != 1 {
		t.Errorf("files %v", f)
	}
}
