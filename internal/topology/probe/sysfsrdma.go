package probe

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const ibDevices = "sys/class/infiniband"

// readRDMASysfs reads /sys/class/infiniband.
func readRDMASysfs(src Source) ([]RDMADevice, error) {
	names, err := src.ReadDir(ibDevices)
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []RDMADevice
	var errs []error
	for _, name := range names {
		dir := ibDevices + "/" + name
		d := RDMADevice{
			Name: name, GUID: readLine(src, dir+"/node_guid"),
			Transport: nodeTransport(readLine(src, dir+"/node_type")),
			Interface: readLine(src, dir+"/parent"), // soft-RoCE only
		}
		ports, err := src.ReadDir(dir + "/ports")
		if err != nil {
			errs = append(errs, fmt.Errorf("%s/ports: %w", dir, err))
		}
		for _, p := range ports {
			num, err := strconv.Atoi(p)
			if err != nil {
				continue
			}
			d.Ports = append(d.Ports, readRDMAPort(src, dir+"/ports/"+p, num))
			if d.Interface == "" {
				d.Interface = readLine(src, dir+"/ports/"+p+"/gid_attrs/ndevs/0")
			}
		}
		out = append(out, d)
	}
	return out, errors.Join(errs...)
}

// nodeTransport parses "1: CA" or "4: RNIC".
func nodeTransport(s string) string {
	if strings.Contains(s, "RNIC") {
		return "iWARP"
	}
	if s == "" {
		return ""
	}
	return "InfiniBand"
}

func readRDMAPort(src Source, dir string, num int) RDMAPort {
	p := RDMAPort{
		Number: num, LinkLayer: readLine(src, dir+"/link_layer"),
		State: afterColon(readLine(src, dir+"/state")),
		Phys:  afterColon(readLine(src, dir+"/phys_state")),
	}
	p.Gbps, _ = tbSpeed(readLine(src, dir+"/rate"), "1") // "100 Gb/sec (4X EDR)"
	gids, _ := src.ReadDir(dir + "/gids")
	for _, g := range gids {
		if i, err := strconv.Atoi(g); err == nil {
			if v := readLine(src, dir+"/gids/"+g); v != "" {
				p.setGID(i, v)
			}
		}
	}
	for len(p.GIDs) > 0 && p.GIDs[len(p.GIDs)-1] == "" {
		p.GIDs = p.GIDs[:len(p.GIDs)-1] // a table has 256 slots, of which a few are used
	}
	return p
}

// afterColon returns the name in "4: ACTIVE".
func afterColon(s string) string {
	if _, after, ok := strings.Cut(s, ":"); ok {
		return strings.TrimSpace(after)
	}
	return s
}
