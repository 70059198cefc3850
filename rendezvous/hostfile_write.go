package rendezvous

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// hostJSON is a host as it is written, in this order.
type hostJSON struct {
	Name  string   `json:"name,omitempty"`
	SSH   string   `json:"ssh,omitempty"`
	Slots int      `json:"slots,omitempty"`
	Addrs []string `json:"addrs,omitempty"`
	RDMA  []any    `json:"rdma,omitempty"`
}

// Marshal writes h as text in this library's form, a line for each host and each
// cable. It fails if the result would not be a valid hostfile.
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
	if w.err != nil {
		return nil, fmt.Errorf("writing hostfile: %w", w.err)
	}
	text := []byte("{\n" + strings.Join(w.fields, ",\n") + "\n}\n")
	if _, err := ParseHostfile(h.Path, text); err != nil {
		return nil, err
	}
	return text, nil
}

func (h *Host) json() hostJSON {
	j := hostJSON{Name: h.Name, SSH: h.SSH, Addrs: h.Addrs}
	if h.Slots > 1 {
		j.Slots = h.Slots
	}
	for _, devices := range h.RDMA {
		switch len(devices) {
		case 0:
			j.RDMA = append(j.RDMA, nil)
		case 1:
			j.RDMA = append(j.RDMA, devices[0])
		default:
			j.RDMA = append(j.RDMA, devices)
		}
	}
	return j
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
