package environ

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"

	"thundercollective/internal/env"
	"thundercollective/internal/launch/hosts"
	"thundercollective/internal/rendezvous"
)

// The ports that every machine reserves, in this order, followed by those of its ranks, one
// for each rail. The first three are used only on rank 0's machine.
const (
	coordinatorPort = iota
	masterPort
	jacclPort
	firstRingPort
)

// A Job is what the variables are derived from.
type Job struct {
	Hosts      []hosts.Host
	Place      hosts.Placement
	Addrs      []string   // by machine, as the others reach it
	Ports      [][]string // by machine, as many as PortCount returns
	Edges      string     // cables between the ranks, if not all are connected
	Served     bool       // an agent serves the coordinator
	Token      string
	Generation uint32
	// Columns and Lines are the space that a rank has on the launcher's terminal; 0 without
	// one.
	Columns, Lines int
}

// PortCount returns how many ports a machine needs.
func PortCount(list []hosts.Host, p hosts.Placement, machine int) int {
	n := firstRingPort
	for _, r := range p.Machines[machine].Ranks {
		n += max(1, len(list[p.Ranks[r].Host].Addrs))
	}
	return n
}

// Rank returns the variables of one rank.
func (j *Job) Rank(rank int) []string {
	at := j.Place.Ranks[rank]
	first := j.Place.Ranks[0].Machine
	vars := variables{}
	for _, prefix := range []string{env.Prefix, "", "OMPI_COMM_WORLD_"} {
		size, local := "WORLD_SIZE", "LOCAL_WORLD_SIZE"
		if prefix == "OMPI_COMM_WORLD_" {
			size, local = "SIZE", "LOCAL_SIZE"
		}
		vars.set(prefix+"RANK", rank)
		vars.set(prefix+size, j.Place.Size())
		vars.set(prefix+"LOCAL_RANK", at.LocalRank)
		vars.set(prefix+local, len(j.Place.Machines[at.Machine].Ranks))
	}
	vars.set(env.Coordinator, j.addr(first, coordinatorPort))
	if j.Served {
		vars.set(env.CoordinatorServed, 1)
	}
	vars.set(env.Generation, j.Generation)
	vars.set(env.Token, "")      // one set by the user would contradict ours
	vars.set(env.Edges, j.Edges) // one set by the user may use names of hosts that the ranks do not know
	if rails := j.Hosts[at.Host].Addrs; len(rails) > 0 {
		vars.set(env.Addr, joinRails(rails))
	}
	vars.set("GROUP_RANK", at.Machine)
	vars.set("GROUP_WORLD_SIZE", len(j.Place.Machines))
	vars.set("MASTER_ADDR", j.Addrs[first])
	vars.set("MASTER_PORT", j.Ports[first][masterPort])
	vars.set("OMPI_COMM_WORLD_NODE_RANK", at.LocalRank)
	vars.set("MLX_RANK", rank)
	vars.set("MLX_WORLD_SIZE", j.Place.Size())
	if hosts.Devices(j.Hosts, j.Place) != nil {
		vars.set("MLX_JACCL_COORDINATOR", j.addr(first, jacclPort))
	}
	if j.Columns > 0 {
		vars.set("COLUMNS", j.Columns)
		vars.set("LINES", j.Lines)
	}
	return vars.list
}

// Files returns the contents of the files, by the name of the variable that holds the path.
func (j *Job) Files() map[string]string {
	files := map[string]string{env.TokenFile: j.Token + "\n"}
	if j.Place.Size() > 1 {
		files["MLX_HOSTFILE"] = toJSON(j.ring())
	}
	if d := hosts.Devices(j.Hosts, j.Place); d != nil {
		files["MLX_IBV_DEVICES"] = toJSON(matrix(d))
	}
	return files
}

// ring returns where every rank of MLX's ring listens: one address for each rail.
func (j *Job) ring() [][]string {
	used := make([]int, len(j.Place.Machines))
	ring := make([][]string, j.Place.Size())
	for r, at := range j.Place.Ranks {
		rails := j.Hosts[at.Host].Addrs
		if len(rails) == 0 {
			rails = j.Addrs[at.Machine : at.Machine+1]
		}
		for _, host := range rails {
			port := j.Ports[at.Machine][firstRingPort+used[at.Machine]]
			used[at.Machine]++
			ring[r] = append(ring[r], net.JoinHostPort(host, port))
		}
	}
	return ring
}

func (j *Job) addr(machine, port int) string {
	return net.JoinHostPort(j.Addrs[machine], j.Ports[machine][port])
}

// matrix returns a device matrix in the form that MLX reads.
func matrix(devices [][][]string) [][]any {
	m := make([][]any, len(devices))
	for i, row := range devices {
		m[i] = rendezvous.DeviceRow(row)
	}
	return m
}

// joinRails returns where a rank listens: any port on each of its rails.
func joinRails(rails []string) string {
	var list []string
	for _, host := range rails {
		list = append(list, net.JoinHostPort(host, "0"))
	}
	return strings.Join(list, ",")
}

type variables struct{ list []string }

func (v *variables) set(name string, value any) {
	v.list = append(v.list, fmt.Sprintf("%s=%v", name, value))
}

// toJSON cannot fail: strings and lists of strings always have a JSON form.
func toJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b) + "\n"
}
