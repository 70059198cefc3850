package probe

import (
	"net/netip"
	"strconv"
	"strings"
)

// ParseIBVDevices returns the device names of `ibv_devices`. If there are none, the
// machine has no devices.
func ParseIBVDevices(b []byte) []string {
	var out []string
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 2 || f[0] == "device" || strings.HasPrefix(f[0], "---") {
			continue
		}
		if _, err := strconv.ParseUint(f[1], 16, 64); err == nil {
			out = append(out, f[0])
		}
	}
	return out
}

// ParseIBVDevinfo parses `ibv_devinfo -v`.
func ParseIBVDevinfo(b []byte) []RDMADevice {
	var out []RDMADevice
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		key, val, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		val = strings.TrimSpace(val)
		if key == "hca_id" {
			out = append(out, RDMADevice{Name: val})
			continue
		}
		if len(out) > 0 {
			devinfoLine(&out[len(out)-1], key, val)
		}
	}
	return out
}

func devinfoLine(d *RDMADevice, key, val string) {
	switch key {
	case "transport":
		d.Transport, _, _ = strings.Cut(val, " (")
		return
	case "node_guid":
		d.GUID = val
		return
	case "port":
		if n, err := strconv.Atoi(val); err == nil {
			d.Ports = append(d.Ports, RDMAPort{Number: n})
		}
		return
	}
	if len(d.Ports) == 0 {
		return
	}
	p := &d.Ports[len(d.Ports)-1]
	word, _, _ := strings.Cut(val, " ")
	switch {
	case key == "state":
		p.State = strings.TrimPrefix(word, "PORT_")
	case key == "phys_state":
		p.Phys = word
	case key == "link_layer":
		p.LinkLayer = val
	case key == "active_mtu":
		p.MTU, _ = strconv.Atoi(word)
	case strings.HasPrefix(key, "GID["):
		// "GID[  1]:   ::ffff:10.0.0.1, RoCE v2": the caller has cut at the first
		// colon, which ends the index.
		gid, _, _ := strings.Cut(val, ",")
		i, err := strconv.Atoi(strings.TrimSpace(strings.Trim(strings.TrimPrefix(key, "GID"), "[] ")))
		if err == nil {
			p.setGID(i, gid)
		}
	}
}

// maxGIDs limits the size of the GID table.
const maxGIDs = 1024

// setGID stores a GID at its index; the all-zero GID is an empty slot.
func (p *RDMAPort) setGID(i int, gid string) {
	if i < 0 || i >= maxGIDs {
		return
	}
	for len(p.GIDs) <= i {
		p.GIDs = append(p.GIDs, "")
	}
	if a, err := netip.ParseAddr(strings.TrimSpace(gid)); err == nil && !a.IsUnspecified() {
		p.GIDs[i] = a.String()
	}
}
