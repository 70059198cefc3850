package rendezvous

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// hostJSON holds the fields of a host in the order in which they are written.
type hostJSON struct {
	Name  string   `json:"name,omitempty"`
	SSH   string   `json:"ssh,omitempty"`
	Slots int      `json:"slots,omitempty"`
	Addrs []string `json:"addrs,omitempty"`
	RDMA  []any    `json:"rdma,omitempty"`
}

// Marshal returns h as text in this library's format, with one line for each host and
// each cable. It fails if the result would not be a valid hostfile.
func (h *Hostfile) Marshal() ([]byte, error) {
	var w hostfileWriter
	if h.Backend != "" {
		w.field("backend", w.json(h.Backend))
	}
	if len(h.Envs) > 0 {
		w.field("envs", w.json(h.Envs))
	}
	if h.Port != 0 {
		w.field("port", w.json(h.Port))
	}
	hosts := make([]string, len(h.Hosts))
	for i := range h.Hosts {
		hosts[i] = w.json(h.Hosts[i].json())
	}
	w.list("hosts", hosts)
	if len(h.Edges) > 0 {
		edges := make([]string, len(h.Edges))
		for i, edge := range h.Edges {
			ends := edge[:]
			if i < len(h.EdgeGbps) && h.EdgeGbps[i] > 0 {
				ends = append(ends[:2:2], strconv.FormatFloat(h.EdgeGbps[i], 'g', -1, 64))
			}
			edges[i] = w.json(ends)
		}
		w.list("edges", edges)
	}
	return w.text(h.Path, "{\n"+strings.Join(w.fields, ",\n")+"\n}\n")
}

func (h *Host) json() hostJSON {
	j := hostJSON{Name: h.Name, SSH: h.SSH, Addrs: h.Addrs, RDMA: DeviceRow(h.RDMA)}
	if h.Slots > 1 {
		j.Slots = h.Slots
	}
	return j
}

// MarshalMLX returns h as text in the format of mlx.launch, with one line for each
// host: its ssh destination, addresses and devices. That format has neither cables nor
// slots: list a host once for each of its ranks. It fails if the result would not be a
// valid hostfile.
func (h *Hostfile) MarshalMLX() ([]byte, error) {
	type host struct {
		SSH  string   `json:"ssh"`
		IPs  []string `json:"ips"`
		RDMA []any    `json:"rdma,omitempty"`
	}
	var w hostfileWriter
	lines := make([]string, len(h.Hosts))
	for i, from := range h.Hosts {
		if from.slots() > 1 {
			return nil, h.bad(from.at, h.hostField(i)+".slots", "is %d, which MLX's format cannot express", from.Slots)
		}
		lines[i] = w.json(host{from.SSH, from.Addrs, DeviceRow(from.RDMA)})
	}
	return w.text(h.Path, "[\n  "+strings.Join(lines, ",\n  ")+"\n]\n")
}

// DeviceRow returns a row of RDMA devices for encoding as JSON, in hostfiles and in the
// matrix that MLX passes to its ranks: null, a name or a list of names for each peer.
func DeviceRow(row [][]string) []any {
	var list []any
	for _, devices := range row {
		switch len(devices) {
		case 0:
			list = append(list, nil)
		case 1:
			list = append(list, devices[0])
		default:
			list = append(list, devices)
		}
	}
	return list
}

// A hostfileWriter collects the lines of an object, and the first error.
type hostfileWriter struct {
	fields []string
	err    error
}

func (w *hostfileWriter) json(v any) string {
	b, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	return string(b)
}

func (w *hostfileWriter) field(name, value string) {
	w.fields = append(w.fields, fmt.Sprintf("  %q: %s", name, value))
}

func (w *hostfileWriter) list(name string, items []string) {
	w.field(name, "[\n    "+strings.Join(items, ",\n    ")+"\n  ]")
}

// text returns s, after checking that it can be parsed.
func (w *hostfileWriter) text(path, s string) ([]byte, error) {
	if w.err != nil {
		return nil, fmt.Errorf("writing hostfile: %w", w.err)
	}
	if _, err := ParseHostfile(path, []byte(s)); err != nil {
		return nil, err
	}
	return []byte(s), nil
}
