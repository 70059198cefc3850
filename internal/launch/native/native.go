package native

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"thundercollective/internal/launch/hosts"
	"thundercollective/internal/launch/remote"
	"thundercollective/internal/rendezvous"
)

// A Job is what the configurations are derived from.
type Job struct {
	Hosts      []hosts.Host
	Place      hosts.Placement
	Addrs      []string            // by machine, as the others reach it
	Interfaces []map[string]string // by machine: the interface of each address; may be nil
	Argv       []string            // the program; may be empty
	Port       int                 // 0 for the software's own default
}

var formats = map[string]func(Job) (string, error){
	"mlx": mlx, "torch": torch, "nccl": nccl, "llamacpp": llamaCPP,
}

// Formats lists the formats of Write.
func Formats() []string { return slices.Sorted(maps.Keys(formats)) }

// Write returns the configuration in the named format.
func Write(format string, j Job) (string, error) {
	f, ok := formats[format]
	if !ok {
		return "", fmt.Errorf("unknown format %q; want one of %s", format, strings.Join(Formats(), ", "))
	}
	return f(j)
}

// rails returns the addresses of an entry of the host list.
func (j Job) rails(rank int) []string {
	at := j.Place.Ranks[rank]
	if list := j.Hosts[at.Host].Addrs; len(list) > 0 {
		return list
	}
	return j.Addrs[at.Machine : at.Machine+1]
}

func (j Job) port(def int) int {
	if j.Port > 0 {
		return j.Port
	}
	return def
}

// mlx has one entry for each rank, because mlx.launch has no slots.
func mlx(j Job) (string, error) {
	h := rendezvous.Hostfile{Hosts: make([]rendezvous.Host, j.Place.Size())}
	devices := hosts.Devices(j.Hosts, j.Place)
	for rank := range h.Hosts {
		h.Hosts[rank] = rendezvous.Host{SSH: j.machine(rank), Addrs: j.rails(rank)}
		if devices != nil {
			h.Hosts[rank].RDMA = devices[rank]
		}
	}
	text, err := h.MarshalMLX()
	return string(text), err
}

// torch returns the command line for each machine, in torchrun's static form.
func torch(j Job) (string, error) {
	first := j.Place.Ranks[0].Machine
	var b strings.Builder
	for m, machine := range j.Place.Machines {
		argv := []string{"torchrun",
			fmt.Sprintf("--nnodes=%d", len(j.Place.Machines)),
			fmt.Sprintf("--node-rank=%d", m),
			fmt.Sprintf("--nproc-per-node=%d", len(machine.Ranks)),
			"--master-addr=" + j.Addrs[first],
			fmt.Sprintf("--master-port=%d", j.port(29500))}
		prog := j.program("train.py")
		if !strings.HasSuffix(prog[0], ".py") {
			argv = append(argv, "--no-python")
		}
		fmt.Fprintf(&b, "# on %s\n%s\n", machine.Name, words(append(argv, prog...)))
	}
	return b.String(), nil
}

// nccl names interfaces and devices exactly: NCCL treats names as prefixes unless they
// begin with an equals sign.
func nccl(j Job) (string, error) {
	var b strings.Builder
	for m, machine := range j.Place.Machines {
		fmt.Fprintf(&b, "# /etc/nccl.conf on %s\n", machine.Name)
		var names []string
		for _, rank := range machine.Ranks {
			for _, addr := range j.rails(rank) {
				if m >= len(j.Interfaces) || j.Interfaces[m][addr] == "" {
					return "", fmt.Errorf("%s has no interface with the address %s", machine.Name, addr)
				}
				names = appendNew(names, j.Interfaces[m][addr])
			}
		}
		fmt.Fprintf(&b, "NCCL_SOCKET_IFNAME==%s\n", strings.Join(names, ","))
		var devices []string
		for _, rank := range machine.Ranks {
			for _, row := range j.Hosts[j.Place.Ranks[rank].Host].RDMA {
				devices = appendNew(devices, row...)
			}
		}
		if len(devices) > 0 {
			fmt.Fprintf(&b, "NCCL_IB_HCA==%s\n", strings.Join(devices, ","))
		}
	}
	return b.String(), nil
}

// llamaCPP has a server for every rank except the first, which runs the model.
func llamaCPP(j Job) (string, error) {
	var b strings.Builder
	var servers []string
	for rank := 1; rank < j.Place.Size(); rank++ {
		at := j.Place.Ranks[rank]
		addr, port := j.rails(rank)[0], j.port(50052)+at.LocalRank
		fmt.Fprintf(&b, "# on %s\nrpc-server -H %s -p %d\n", j.machine(rank), addr, port)
		servers = append(servers, net.JoinHostPort(addr, strconv.Itoa(port)))
	}
	argv := j.program("llama-server", "-m", "model.gguf", "-ngl", "99")
	if len(servers) > 0 {
		argv = append(argv, "--rpc", strings.Join(servers, ","))
	}
	fmt.Fprintf(&b, "# on %s\n%s\n", j.machine(0), words(argv))
	return b.String(), nil
}

func (j Job) machine(rank int) string { return j.Place.Machines[j.Place.Ranks[rank].Machine].Name }

// program returns the user's program, or an example.
func (j Job) program(example ...string) []string {
	if len(j.Argv) > 0 {
		return slices.Clone(j.Argv)
	}
	return example
}

func appendNew(list []string, items ...string) []string {
	for _, s := range items {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

func words(argv []string) string {
	out := make([]string, len(argv))
	for i, w := range argv {
		out[i] = remote.Quote(w)
	}
	return strings.Join(out, " ")
}
