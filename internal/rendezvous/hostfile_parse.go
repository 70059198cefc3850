package rendezvous

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// ParseHostfile parses the text of a hostfile; path is for messages. It accepts these
// formats, the last of which is this library's own:
//
//	[["10.0.0.1:7000","10.1.0.1:7000"], ["10.0.0.2:7000","10.1.0.2:7000"]]
//	[{"ssh":"mac1","ips":["10.0.0.1"],"rdma":[null,"rdma_en5"]}, ...]
//	{"backend":"jaccl","envs":["K=V"],"hosts":[{"ssh":"mac1",...}, ...]}
//	{"port":32323,
//	 "hosts":[{"name":"a","ssh":"me@mac1","slots":2,"addrs":["10.0.0.1"],"rdma":[...]}, ...],
//	 "edges":[["a","b"], ["b","c","10"], ["a/0-1.3","b/0-3.1"]]}
//
// A third entry of an edge is its rate in Gb/s. An end may be an address of a host. If
// both ends have a slash and a service, the cable carries USB4 streams (see EdgeSpec).
// "ips" and "addrs" mean the same. An error is a *HostfileError.
func ParseHostfile(path string, data []byte) (*Hostfile, error) {
	p := &hostfileParser{file: &Hostfile{Path: path}}
	if len(data) > maxHostfile {
		return nil, p.file.bad(place{}, "", "is larger than %d bytes, too large for a hostfile", maxHostfile)
	}
	root, jerr := readJSON(data)
	if jerr != nil {
		jerr.Path = path
		return nil, jerr
	}
	if err := p.root(root); err != nil {
		return nil, err
	}
	return p.file, nil
}

// A hostfileParser turns nodes into a Hostfile. Its methods take a node and its name in
// messages.
type hostfileParser struct {
	file    *Hostfile
	edgesAt []place
}

func (p *hostfileParser) root(n *node) error {
	var err error
	switch n.kind {
	case array:
		err = p.hosts(n, "")
	case object:
		err = p.object(n, "", []member{
			{"backend", func(n *node, name string) (err error) { p.file.Backend, err = p.text(n, name); return err }},
			{"envs", func(n *node, name string) (err error) { p.file.Envs, _, err = p.strs(n, name); return err }},
			{"port", func(n *node, name string) (err error) { p.file.Port, err = p.number(n, name, 1, 65535); return err }},
			{"hosts", p.hosts},
			{"edges", p.edges},
		})
	default:
		err = p.want(n, "", "a list of hosts, or an object with the field \"hosts\"")
	}
	if err != nil {
		return err
	}
	return p.whole(n)
}

// whole makes the checks that need all hosts.
func (p *hostfileParser) whole(root *node) error {
	h := p.file
	if len(h.Hosts) == 0 {
		return h.bad(root.at, "hosts", "lists no host")
	}
	if n := h.Size(); n > MaxSize {
		return h.bad(root.at, "hosts", "lists %d ranks; a job has at most %d", n, MaxSize)
	}
	if err := p.names(); err != nil {
		return err
	}
	for i := range h.Hosts {
		if n := len(h.Hosts[i].Addrs); n > MaxRails {
			return h.bad(h.Hosts[i].at, h.Hosts[i].addrsField, "lists %d addresses; a rank has at most %d", n, MaxRails)
		}
	}
	_, err := h.peers()
	return err
}

// names checks that the names of hosts are unique, and the references to them.
func (p *hostfileParser) names() error {
	h := p.file
	labels := make(map[string]bool)
	named := make(map[string]string)
	for i := range h.Hosts {
		host := &h.Hosts[i]
		if host.Label() == "" && len(host.Addrs) == 0 {
			return h.bad(host.at, host.field, "has none of name, ssh and addrs")
		}
		if first, ok := named[host.Name]; ok && host.Name != "" {
			return h.bad(host.at, host.field+".name", "%q is already the name of %s; "+
				"use slots for several ranks on one host", host.Name, first)
		}
		named[host.Name] = host.field
		labels[host.Label()] = true
		if n := len(host.RDMA); n != 0 && n != len(h.Hosts) {
			return h.bad(host.at, host.field+".rdma", "has %d entries for %d hosts; "+
				"give one entry for each host, null for the host itself", n, len(h.Hosts))
		}
	}
	for i, edge := range h.Edges {
		spec := EdgeSpec{A: edge[0], B: edge[1]}
		a, _, b, _, err := spec.services()
		if err != nil {
			return h.bad(p.edgesAt[i], fmt.Sprintf("edges[%d]", i), "%v", err)
		}
		for j, name := range []string{a, b} {
			if !labels[name] && !h.hasAddr(name) {
				return h.bad(p.edgesAt[i], fmt.Sprintf("edges[%d][%d]", i, j), "%q is not the name of a host", name)
			}
		}
		if a == b {
			return h.bad(p.edgesAt[i], fmt.Sprintf("edges[%d]", i), "joins %q with itself", a)
		}
	}
	return nil
}

func (p *hostfileParser) hosts(n *node, name string) error {
	if n.kind != array {
		return p.want(n, name, "a list of hosts")
	}
	p.file.Hosts = make([]Host, 0, min(len(n.items), MaxSize+1))
	for i := range n.items {
		item, name := &n.items[i], fmt.Sprintf("%s[%d]", name, i)
		host := Host{at: item.at, field: name}
		var err error
		switch {
		case item.kind == array:
			err = p.rails(item, name, &host)
		case item.kind == object:
			err = p.host(item, name, &host)
		default:
			err = p.want(item, name, "an object, or a list of ip:port")
		}
		if err != nil {
			return err
		}
		if len(p.file.Hosts) > MaxSize {
			return p.file.bad(item.at, name, "is one too many; a job has at most %d ranks", MaxSize)
		}
		p.file.Hosts = append(p.file.Hosts, host)
	}
	return nil
}

// rails parses a rank in the format that MLX passes to its ranks: a list of addresses,
// each with its port.
func (p *hostfileParser) rails(n *node, name string, host *Host) (err error) {
	host.addrsField = name
	if host.Addrs, host.addrsAt, err = p.strs(n, name); err != nil {
		return err
	}
	if len(host.Addrs) == 0 {
		return p.file.bad(n.at, name, "lists no address")
	}
	for i, addr := range host.Addrs {
		if _, err := dialable(addr); err != nil {
			return p.file.bad(host.addrsAt[i], fmt.Sprintf("%s[%d]", name, i), "%q %v", addr, err)
		}
	}
	return nil
}

func (p *hostfileParser) host(n *node, name string, host *Host) error {
	addrs := func(n *node, name string) (err error) {
		if host.Addrs != nil {
			return p.file.bad(n.at, name, "addrs and ips mean the same; give one of them")
		}
		host.addrsField = name
		host.Addrs, host.addrsAt, err = p.strs(n, name)
		return err
	}
	return p.object(n, name, []member{
		{"name", func(n *node, name string) (err error) { host.Name, err = p.str(n, name); return err }},
		{"ssh", func(n *node, name string) (err error) { host.SSH, err = p.str(n, name); return err }},
		{"slots", func(n *node, name string) (err error) { host.Slots, err = p.number(n, name, 1, MaxSize); return err }},
		{"addrs", addrs},
		{"ips", addrs},
		{"rdma", func(n *node, name string) (err error) { host.RDMA, err = p.rdma(n, name); return err }},
	})
}

// rdma parses a row of devices: null, a name or a list of names for each host.
func (p *hostfileParser) rdma(n *node, name string) ([][]string, error) {
	if n.kind != array {
		return nil, p.want(n, name, "a list with null, a device or a list of devices for each host")
	}
	var row [][]string
	for i := range n.items {
		item, name := &n.items[i], fmt.Sprintf("%s[%d]", name, i)
		var devices []string
		switch {
		case item.kind == array:
			var err error
			if devices, _, err = p.strs(item, name); err != nil {
				return nil, err
			}
		case item.kind != scalar || item.value != nil:
			device, err := p.str(item, name)
			if err != nil {
				return nil, p.want(item, name, "null, a device or a list of devices")
			}
			devices = []string{device}
		}
		row = append(row, devices)
	}
	return row, nil
}

func (p *hostfileParser) edges(n *node, name string) error {
	if n.kind != array {
		return p.want(n, name, "a list of pairs of host names")
	}
	rated := false
	for i := range n.items {
		name := fmt.Sprintf("%s[%d]", name, i)
		pair, _, err := p.strs(&n.items[i], name)
		if err != nil {
			return err
		}
		if len(pair) != 2 && len(pair) != 3 {
			return p.file.bad(n.items[i].at, name, "has %d names; a cable joins two hosts", len(pair))
		}
		rate := 0.0
		if len(pair) == 3 {
			if rate, err = parseRate(pair[2]); err != nil {
				return p.file.bad(n.items[i].at, name+"[2]", "%v", err)
			}
			rated = true
		}
		p.file.EdgeGbps = append(p.file.EdgeGbps, rate)
		p.file.Edges = append(p.file.Edges, [2]string(pair[:2]))
		p.edgesAt = append(p.edgesAt, n.items[i].at)
	}
	if !rated {
		p.file.EdgeGbps = nil
	}
	return nil
}

// hasAddr reports whether a host has the address.
func (h *Hostfile) hasAddr(name string) bool {
	ip, err := netip.ParseAddr(unbracket(name))
	if err != nil {
		return false
	}
	for i := range h.Hosts {
		for _, a := range h.Hosts[i].Addrs {
			if hasAddr(a, ip.Unmap().WithZone("")) {
				return true
			}
		}
	}
	return false
}

// A member is a field that an object may have.
type member struct {
	name string
	read func(n *node, name string) error
}

// object reads the fields of n. A field that is not among members is an error.
func (p *hostfileParser) object(n *node, name string, members []member) error {
	for i := range n.fields {
		f := &n.fields[i]
		full := strings.TrimPrefix(name+"."+f.name, ".")
		k := slices.IndexFunc(members, func(m member) bool { return m.name == f.name })
		if k < 0 {
			var known []string
			for _, m := range members {
				known = append(known, m.name)
			}
			return p.file.bad(f.at, full, "unknown field; the known ones are %s", strings.Join(known, ", "))
		}
		if err := members[k].read(&f.node, full); err != nil {
			return err
		}
	}
	return nil
}

func (p *hostfileParser) want(n *node, name, what string) error {
	return p.file.bad(n.at, name, "is %s; it must be %s", n.describe(), what)
}

func (p *hostfileParser) text(n *node, name string) (string, error) {
	s, ok := n.value.(string)
	if !ok {
		return "", p.want(n, name, "a string")
	}
	return s, nil
}

func (p *hostfileParser) str(n *node, name string) (string, error) {
	s, err := p.text(n, name)
	if err == nil && s == "" {
		return "", p.file.bad(n.at, name, "is empty")
	}
	return s, err
}

func (p *hostfileParser) strs(n *node, name string) ([]string, []place, error) {
	if n.kind != array {
		return nil, nil, p.want(n, name, "a list of strings")
	}
	list, places := make([]string, 0, len(n.items)), make([]place, 0, len(n.items))
	for i := range n.items {
		s, err := p.str(&n.items[i], fmt.Sprintf("%s[%d]", name, i))
		if err != nil {
			return nil, nil, err
		}
		list, places = append(list, s), append(places, n.items[i].at)
	}
	return list, places, nil
}

func (p *hostfileParser) number(n *node, name string, low, high int) (int, error) {
	v, _ := n.value.(json.Number)
	i, err := strconv.Atoi(v.String())
	if err != nil || i < low || i > high {
		return 0, p.want(n, name, fmt.Sprintf("a whole number from %d to %d", low, high))
	}
	return i, nil
}
