package probe

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const tbDevices = "sys/bus/thunderbolt/devices"

// A tbName is the parsed name of a Thunderbolt device in sysfs: domain and route. "0-301"
// is port 3 of the device at port 1 of domain 0.
type tbName struct {
	domain int
	route  uint64
}

// parseTBName parses "0-301". Services ("0-1.0") and retimers ("0-0:1.1") are not device
// names.
func parseTBName(s string) (tbName, bool) {
	d, r, ok := strings.Cut(s, "-")
	if !ok {
		return tbName{}, false
	}
	domain, err1 := strconv.Atoi(d)
	route, err2 := strconv.ParseUint(r, 16, 64)
	if err1 != nil || err2 != nil || domain < 0 {
		return tbName{}, false
	}
	return tbName{domain, route}, true
}

// port returns the number of the machine's own port that leads to the device.
func (n tbName) port() int { return int(n.route & 0x3f) }

// depth returns the number of cables between the machine and the device.
func (n tbName) depth() int {
	d := 0
	for r := n.route; r != 0; r >>= 8 {
		d++
	}
	return d
}

// parent returns the device that n is plugged into.
func (n tbName) parent() tbName {
	d := n.depth()
	if d == 0 {
		return n
	}
	return tbName{n.domain, n.route &^ (0xff << (8 * (d - 1)))}
}

// readTBSysfs reads /sys/bus/thunderbolt. A machine without it has no powered
// Thunderbolt controller; that is not an error.
func readTBSysfs(src Source) (Thunderbolt, error) {
	names, err := src.ReadDir(tbDevices)
	if absent(err) {
		return Thunderbolt{}, nil
	}
	if err != nil {
		return Thunderbolt{}, err
	}
	var tb Thunderbolt
	var devs []tbName
	var errs []error
	for _, name := range names {
		if idx, ok := strings.CutPrefix(name, "domain"); ok {
			tb.Controllers++
			tb.Domains = append(tb.Domains, readTBDomain(src, name, idx))
			continue
		}
		if n, ok := parseTBName(name); ok {
			devs = append(devs, n)
		}
	}
	// Deepest first, so that each device is complete before it is added to its parent.
	slices.SortFunc(devs, func(a, b tbName) int {
		if d := b.depth() - a.depth(); d != 0 {
			return d
		}
		if a.domain != b.domain {
			return a.domain - b.domain
		}
		return compareRoutes(a.route, b.route)
	})
	children := map[tbName][]Node{}
	for _, n := range devs {
		if n.route == 0 {
			continue
		}
		node, err := readTBNode(src, n, names)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		node.Children = children[n]
		children[n.parent()] = append(children[n.parent()], node)
	}
	for _, n := range devs {
		if n.route == 0 {
			tb.Ports = append(tb.Ports, rootPorts(src, n, children[n])...)
		}
	}
	for i := range tb.Ports {
		tb.Ports[i].Number = i + 1
	}
	return tb, errors.Join(errs...)
}

func compareRoutes(a, b uint64) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

func readTBDomain(src Source, name, idx string) Domain {
	d := Domain{
		Name:     name,
		UUID:     strings.ToUpper(readLine(src, tbDevices+"/"+idx+"-0/unique_id")),
		Security: readLine(src, tbDevices+"/"+name+"/security"),
	}
	if v := readLine(src, tbDevices+"/"+name+"/iommu_dma_protection"); v != "" {
		on := v == "1"
		d.IOMMU = &on
	}
	return d
}

// readTBNode reads a switch or a peer host. Only a switch has the file "authorized".
func readTBNode(src Source, n tbName, all []string) (Node, error) {
	name := fmt.Sprintf("%d-%x", n.domain, n.route)
	dir := tbDevices + "/" + name
	node := Node{
		Kind: KindDevice, Route: fmt.Sprintf("%x", n.route),
		Name:       readLine(src, dir+"/device_name"),
		Vendor:     readLine(src, dir+"/vendor_name"),
		UUID:       strings.ToUpper(readLine(src, dir+"/unique_id")),
		Generation: readLine(src, dir+"/generation"),
	}
	node.Gbps, node.Lanes = tbSpeed(readLine(src, dir+"/rx_speed"), readLine(src, dir+"/rx_lanes"))
	if node.UUID == "" && node.Name == "" {
		return Node{}, fmt.Errorf("%s: it has neither unique_id nor device_name", dir)
	}
	auth := readLine(src, dir+"/authorized")
	if auth != "" {
		v, err := strconv.Atoi(auth)
		if err != nil {
			return Node{}, fmt.Errorf("%s/authorized: %w", dir, err)
		}
		node.Authorized = &v
		return node, nil
	}
	node.Kind = KindHost
	for _, svc := range all {
		if !strings.HasPrefix(svc, name+".") {
			continue
		}
		if key := readLine(src, tbDevices+"/"+svc+"/key"); key != "" {
			node.Services = append(node.Services, key)
		}
		if nets, err := src.ReadDir(tbDevices + "/" + svc + "/net"); err == nil && len(nets) > 0 {
			node.Interface = nets[0]
		}
	}
	return node, nil
}

// rootPorts returns the ports of one host router with what is plugged into each. Since
// Linux 5.15 every port has a directory usb4_portN; older systems list only ports in
// use.
func rootPorts(src Source, root tbName, nodes []Node) []Port {
	dir := fmt.Sprintf("%s/%d-0", tbDevices, root.domain)
	uuid := strings.ToUpper(readLine(src, dir+"/unique_id"))
	maxGbps := 40.0
	if g, err := strconv.Atoi(readLine(src, dir+"/generation")); err == nil && g < 3 {
		maxGbps = 20
	}
	var adapters []int
	names, _ := src.ReadDir(dir)
	for _, n := range names {
		if num, ok := strings.CutPrefix(n, "usb4_port"); ok {
			if v, err := strconv.Atoi(num); err == nil {
				adapters = append(adapters, v)
			}
		}
	}
	byPort := map[int][]Node{}
	for _, n := range nodes {
		route, _ := strconv.ParseUint(n.Route, 16, 64)
		p := tbName{route: route}.port()
		byPort[p] = append(byPort[p], n)
		if !slices.Contains(adapters, p) {
			adapters = append(adapters, p)
		}
	}
	slices.Sort(adapters)
	var ports []Port
	for _, a := range adapters {
		p := Port{
			Name: fmt.Sprintf("usb4_port%d of domain%d", a, root.domain), Domain: uuid,
			MaxGbps: maxGbps, Devices: byPort[a], Connected: len(byPort[a]) > 0,
		}
		for _, n := range p.Devices {
			p.Gbps, p.Lanes = n.Gbps, n.Lanes
			p.MaxGbps = max(p.MaxGbps, symmetric(n.Gbps))
		}
		ports = append(ports, p)
	}
	return ports
}

// tbSpeed returns the speed of a cable from that of a lane ("20.0 Gb/s") and the number
// of lanes.
func tbSpeed(speed, lanes string) (gbps float64, n int) {
	num, _, _ := strings.Cut(speed, " ")
	v, err := strconv.ParseFloat(num, 64)
	if err != nil || v < 0 || v > 1e4 {
		return 0, 0
	}
	n, err = strconv.Atoi(lanes)
	if err != nil || n < 1 || n > 4 {
		n = 1
	}
	return v * float64(n), n
}
