package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// appleRDMAProtocol is the XDomain protocol with which a Mac announces that RDMA is
// enabled; older systems show it as an unknown service.
const appleRDMAProtocol = 64087

// ParseProfiler parses `system_profiler SPThunderboltDataType -json`. Each bus is a
// domain with its own identity and one receptacle. The tree of what is plugged in may
// have any depth: a computer behind a hub is one level further down.
func ParseProfiler(b []byte) (Thunderbolt, error) {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(b, &doc); err != nil {
		return Thunderbolt{}, fmt.Errorf("parse Thunderbolt report: %w", err)
	}
	raw, ok := doc["SPThunderboltDataType"]
	if !ok {
		return Thunderbolt{}, errors.New("parse Thunderbolt report: it has no SPThunderboltDataType")
	}
	var buses []map[string]any
	if err := json.Unmarshal(raw, &buses); err != nil {
		return Thunderbolt{}, fmt.Errorf("parse Thunderbolt report: %w", err)
	}
	var tb Thunderbolt
	for _, bus := range buses {
		uuid := strings.ToUpper(str(bus["domain_uuid_key"]))
		name := str(bus["_name"])
		if uuid == "" && bus["_items"] == nil && !hasReceptacle(bus) {
			continue // "no hardware was found" and the like
		}
		tb.Controllers++
		tb.Domains = append(tb.Domains, Domain{Name: name, UUID: uuid})
		tb.Ports = append(tb.Ports, busPorts(bus, name, uuid)...)
	}
	slices.SortStableFunc(tb.Ports, func(a, b Port) int { return a.Number - b.Number })
	fillMaxSpeed(tb.Ports)
	return tb, nil
}

// busPorts returns the receptacles of one bus.
func busPorts(bus map[string]any, name, uuid string) []Port {
	var ports []Port
	for _, key := range receptacleKeys(bus) {
		tag, _ := bus[key].(map[string]any)
		p := Port{Name: name, Domain: uuid}
		p.Number, _ = strconv.Atoi(str(tag["receptacle_id_key"]))
		if p.Number == 0 {
			p.Number, _ = strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(key, "receptacle_"), "_tag"))
		}
		p.Connected = str(tag["receptacle_status_key"]) == "receptacle_connected"
		gbps, upTo := profilerSpeed(str(tag["current_speed_key"]))
		if p.Connected && !upTo {
			p.Gbps = gbps
		}
		p.MaxGbps = symmetric(gbps)
		ports = append(ports, p)
	}
	nodes := profilerNodes(bus["_items"])
	if len(ports) > 0 {
		// On all known Macs a bus has one receptacle. If there are more, the tree
		// belongs to the connected one.
		i := max(0, slices.IndexFunc(ports, func(p Port) bool { return p.Connected }))
		ports[i].Devices = nodes
		ports[i].Connected = ports[i].Connected || len(nodes) > 0
	}
	return ports
}

func profilerNodes(v any) []Node {
	items, _ := v.([]any)
	var nodes []Node
	for _, it := range items {
		m, ok := it.(map[string]any)
		if !ok {
			continue
		}
		n := Node{
			Kind: KindDevice, Name: str(m["_name"]), Vendor: str(m["vendor_name_key"]),
			Route: str(m["route_string_key"]), Generation: str(m["mode_key"]),
		}
		uuid := str(m["domain_uuid_key"])
		if uuid != "" && str(m["switch_uid_key"]) == "" {
			n.Kind, n.UUID = KindHost, strings.ToUpper(uuid)
			n.Services = profilerServices(m["services_title"])
		} else {
			n.UUID = str(m["switch_uid_key"])
		}
		for _, key := range receptacleKeys(m) {
			if tag, _ := m[key].(map[string]any); strings.Contains(key, "upstream") {
				n.Gbps, _ = profilerSpeed(str(tag["current_speed_key"]))
			}
		}
		n.Children = profilerNodes(m["_items"])
		nodes = append(nodes, n)
	}
	return nodes
}

func profilerServices(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, it := range list {
		m, _ := it.(map[string]any)
		id, _ := m["protocol_id_key"].(float64)
		switch {
		case str(m["_name"]) == "service_ip":
			out = append(out, "network")
		case str(m["service_key_key"]) == "rdma", id == appleRDMAProtocol:
			out = append(out, "rdma")
		}
	}
	return out
}

func hasReceptacle(m map[string]any) bool { return len(receptacleKeys(m)) > 0 }

func receptacleKeys(m map[string]any) []string {
	var keys []string
	for k, v := range m {
		if _, ok := v.(map[string]any); ok && strings.HasPrefix(k, "receptacle_") && strings.HasSuffix(k, "_tag") {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// profilerSpeed parses "80 Gb/s" or "Up to 120 Gb/s".
func profilerSpeed(s string) (gbps float64, upTo bool) {
	rest, upTo := strings.CutPrefix(s, "Up to ")
	num, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	gbps, err := strconv.ParseFloat(num, 64)
	if err != nil || gbps < 0 || gbps > 1e5 {
		return 0, upTo
	}
	return gbps, upTo
}

// symmetric returns the speed between two computers. Thunderbolt 5 advertises 120 Gb/s,
// which is three lanes out and one back, for displays; two computers get 80.
func symmetric(gbps float64) float64 {
	if gbps >= 80 {
		return 80
	}
	return gbps
}

// fillMaxSpeed sets the maximum of a port that reports only its negotiated speed to that
// of the machine's best port.
func fillMaxSpeed(ports []Port) {
	best := 0.0
	for _, p := range ports {
		best = max(best, p.MaxGbps)
	}
	for i := range ports {
		if ports[i].Connected || ports[i].MaxGbps == 0 {
			ports[i].MaxGbps = best
		}
	}
}

func str(v any) string { s, _ := v.(string); return s }
