package rendezvous

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// BasePort is the port of the first rank on a host whose addresses have no port. It is
// the one that mlx.launch starts from.
const BasePort = 32323

// maxHostfile is the size limit of a hostfile.
const maxHostfile = 1 << 20

// A Hostfile lists the machines of a cluster. The ranks are the slots of the hosts, in
// order: if the first host has two slots, it runs ranks 0 and 1.
type Hostfile struct {
	Path    string // for messages; empty if it was not read from a file
	Backend string // MLX's name for a backend; not interpreted
	Envs    []string
	Port    int // base port; 0 for BasePort
	Hosts   []Host

	// Edges are the cables, as pairs of host names (see Host.Label). A pair that occurs
	// twice has two cables. Empty means that nothing is known about cables.
	// An end may also be an address of a host, if the cable is at that address. See
	// EdgeSpec for cables that carry USB4 streams.
	Edges [][2]string
	// EdgeGbps holds the rate of each of the Edges in Gb/s, 0 where it is unknown; nil
	// if all are unknown.
	EdgeGbps []float64
}

// A Host is one machine of a Hostfile.
type Host struct {
	Name  string
	SSH   string // destination for ssh, with or without "user@"
	Slots int    // ranks on this machine; 0 means 1

	// Addrs are "host:port" or "host", one per rail. A port is that of the first
	// rank on the host; each further slot uses the next one. Addresses without a port
	// get ports from the base port upwards, one for each rank with that address.
	Addrs []string

	// RDMA lists, for each host of the file, the devices that lead to it: none
	// for the host itself. Empty if there are no such devices.
	RDMA [][]string

	// The position in the file, for messages.
	at         place
	field      string
	addrsAt    []place
	addrsField string
}

// Label returns the name of the host in messages and edges: its name, else its ssh
// host, else its first address.
func (h *Host) Label() string {
	if h.Name != "" {
		return h.Name
	}
	if h.SSH != "" {
		return h.SSH[strings.LastIndexByte(h.SSH, '@')+1:]
	}
	if len(h.Addrs) > 0 {
		if e, err := parseEndpoint(h.Addrs[0]); err == nil {
			return e.host()
		}
	}
	return ""
}

// keys is what tells this machine, which is number i of the file, from others. Names are
// unique in a hostfile, ssh hosts and addresses need not be: mlx.launch lists a machine
// once for each rank.
func (h *Host) keys(i int) []string {
	keys := []string{fmt.Sprintf("entry %d", i)}
	switch {
	case h.Name != "":
		return keys
	case h.SSH != "":
		return append(keys, "ssh "+h.SSH[strings.LastIndexByte(h.SSH, '@')+1:])
	}
	return append(keys, addressKeys(h.Addrs)...)
}

func (h *Host) slots() int { return max(h.Slots, 1) }

// A HostfileError reports what is wrong in a hostfile, and where.
type HostfileError struct {
	Path         string
	Line, Column int    // from 1; 0 if the hostfile was not read from text
	Field        string // "hosts[2].addrs[0]", or empty for the whole file
	Msg          string
}

func (e *HostfileError) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path + ":")
	} else {
		b.WriteString("hostfile:")
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "%d:", e.Line)
	}
	if e.Field != "" {
		b.WriteString(" " + e.Field + ":")
	}
	b.WriteString(" " + e.Msg)
	return b.String()
}

// A place is a position in a text, from 1.
type place struct{ line, column int }

func (h *Hostfile) bad(at place, field, format string, args ...any) error {
	return &HostfileError{
		Path: h.Path, Line: at.line, Column: at.column,
		Field: field, Msg: fmt.Sprintf(format, args...),
	}
}

// ReadHostfile reads a hostfile in any of the accepted formats. Its error is a
// *ConfigError if the file cannot be read, and a *HostfileError if its content is wrong.
// A path that starts with a bracket or brace is the content itself.
func ReadHostfile(path string) (*Hostfile, error) {
	data, err := hostfileBytes(path)
	if err != nil {
		return nil, &ConfigError{Field: fieldHostfile, Reason: err.Error(), Err: err}
	}
	if inline(path) {
		path = ""
	}
	return ParseHostfile(path, data)
}

func inline(path string) bool {
	path = strings.TrimSpace(path)
	return strings.HasPrefix(path, "[") || strings.HasPrefix(path, "{")
}

// hostfileBytes reads at most one byte more than ParseHostfile accepts, so that it can
// tell that the file is too large.
func hostfileBytes(path string) ([]byte, error) {
	if inline(path) {
		return []byte(path), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxHostfile+1))
}

// Size returns the number of ranks.
func (h *Hostfile) Size() int {
	n := 0
	for i := range h.Hosts {
		n += h.Hosts[i].slots()
	}
	return n
}

// Devices returns, for each rank, the RDMA devices that lead to it from the given rank;
// nil if the hostfile does not list them. Ranks of the same host have none.
func (h *Hostfile) Devices(rank int) [][]string {
	var from *Host
	var hosts []int // by rank
	for i := range h.Hosts {
		for range h.Hosts[i].slots() {
			if len(hosts) == rank {
				from = &h.Hosts[i]
			}
			hosts = append(hosts, i)
		}
	}
	if from == nil || len(from.RDMA) == 0 {
		return nil
	}
	row := make([][]string, len(hosts))
	for peer, host := range hosts {
		row[peer] = from.RDMA[host]
	}
	return row
}

// Peers returns the addresses of each rank. Its error is a *HostfileError, for example
// if a host has no address.
func (h *Hostfile) Peers() ([]Peer, error) {
	for i := range h.Hosts {
		if len(h.Hosts[i].Addrs) == 0 {
			return nil, h.bad(h.Hosts[i].at, h.hostField(i)+".addrs",
				"host %q has no address; list the addresses at which other hosts reach it", h.Hosts[i].Label())
		}
	}
	return h.peers()
}

// peers is like Peers, but accepts hosts without addresses.
func (h *Hostfile) peers() ([]Peer, error) {
	base := h.Port
	if base == 0 {
		base = BasePort
	}
	var (
		peers []Peer
		owner = make(map[string]int) // rank by address
		used  = make(map[string]int) // ranks so far, by address without port
		keys  [][]string             // by rank: what its machine is known by
	)
	for i := range h.Hosts {
		host := &h.Hosts[i]
		for slot := range host.slots() {
			rank := len(peers)
			peer := Peer{Host: host.Label()}
			for j, addr := range host.Addrs {
				fail := func(format string, args ...any) error {
					at, field := h.addrField(i, j)
					return h.bad(at, field, "%q %s", addr, fmt.Sprintf(format, args...))
				}
				e, err := parseEndpoint(addr)
				if err != nil {
					return nil, fail("%v", err)
				}
				if e.port == noPort {
					e.port = base + used[e.host()]
					used[e.host()]++
				} else {
					e.port += slot
				}
				if e.port > 65535 {
					return nil, fail("would need port %d for rank %d", e.port, rank)
				}
				if err := e.reachable(); err != nil {
					return nil, fail("%v", err)
				}
				if other, taken := owner[e.String()]; taken {
					return nil, fail("makes %s an address of both rank %d and rank %d", e, other, rank)
				}
				owner[e.String()] = rank
				peer.Addrs = append(peer.Addrs, e.String())
			}
			peers, keys = append(peers, peer), append(keys, host.keys(i))
		}
	}
	listedMachines(peers, keys)
	return peers, nil
}

// EdgeSpecs returns the cables as ParseEdges does.
func (h *Hostfile) EdgeSpecs() []EdgeSpec {
	var list []EdgeSpec
	for i, e := range h.Edges {
		s := EdgeSpec{A: e[0], B: e[1]}
		if i < len(h.EdgeGbps) {
			s.Gbps = h.EdgeGbps[i]
		}
		list = append(list, s)
	}
	return list
}

// hostField returns the name of host i in messages.
func (h *Hostfile) hostField(i int) string {
	if f := h.Hosts[i].field; f != "" {
		return f
	}
	return fmt.Sprintf("hosts[%d]", i)
}

// addrField returns the name of address j of host i in messages, and its position.
func (h *Hostfile) addrField(i, j int) (place, string) {
	host := &h.Hosts[i]
	if j < len(host.addrsAt) {
		return host.addrsAt[j], fmt.Sprintf("%s[%d]", host.addrsField, j)
	}
	return host.at, fmt.Sprintf("%s.addrs[%d]", h.hostField(i), j)
}
