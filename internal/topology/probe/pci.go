package probe

import (
	"slices"
	"strconv"
	"strings"
)

const pciDevices = "sys/bus/pci/devices"

// thunderboltBridges are the PCIe bridges in Thunderbolt hosts and enclosures, as vendor
// and device. A card below one is behind a Thunderbolt cable.
var thunderboltBridges = []string{
	"8086:1578", "8086:15d3", "8086:15da", "8086:15c0", "8086:15ea", "8086:15ef", // Alpine Ridge, Titan Ridge
	"8086:0b26", "8086:5780", "8086:5786", "1b21:2421", "1b21:2425", // Goshen Ridge, Barlow Ridge, ASMedia
}

// readPCI reads network and RDMA cards and Thunderbolt controllers.
func readPCI(src Source) ([]PCIDevice, error) {
	addrs, err := src.ReadDir(pciDevices)
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []PCIDevice
	for _, addr := range addrs {
		dir := pciDevices + "/" + addr
		class := strings.TrimPrefix(readLine(src, dir+"/class"), "0x")
		if !strings.HasPrefix(class, "02") && class != "0c0340" && class != "088000" {
			continue
		}
		d := PCIDevice{
			Address: addr, Class: class,
			Vendor: hexID(src, dir+"/vendor"), Device: hexID(src, dir+"/device"),
			Driver: ueventValue(src, dir+"/uevent", "DRIVER"),
			Speed:  gts(src, dir+"/current_link_speed"), Width: width(src, dir+"/current_link_width"),
			MaxSpeed: gts(src, dir+"/max_link_speed"), MaxWidth: width(src, dir+"/max_link_width"),
		}
		d.Interfaces, _ = src.ReadDir(dir + "/net")
		d.RDMADevices, _ = src.ReadDir(dir + "/infiniband")
		above := pciParents(src, addr)
		if len(above) > 0 {
			slot := pciDevices + "/" + above[len(above)-1]
			d.SlotSpeed, d.SlotWidth = gts(src, slot+"/max_link_speed"), width(src, slot+"/max_link_width")
		}
		d.Thunderbolt = behindThunderbolt(src, append(above, addr))
		out = append(out, d)
	}
	return out, nil
}

// pciParents returns the bridges above a card, the root port first.
func pciParents(src Source, addr string) []string {
	link, err := src.ReadLink(pciDevices + "/" + addr)
	if err != nil {
		return nil
	}
	var out []string
	for part := range strings.SplitSeq(link, "/") {
		if strings.Count(part, ":") == 2 && strings.Contains(part, ".") && part != addr {
			out = append(out, part)
		}
	}
	return out
}

func behindThunderbolt(src Source, chain []string) bool {
	return slices.ContainsFunc(chain, func(addr string) bool {
		dir := pciDevices + "/" + addr
		return readLine(src, dir+"/removable") == "removable" ||
			slices.Contains(thunderboltBridges, hexID(src, dir+"/vendor")+":"+hexID(src, dir+"/device"))
	})
}

func hexID(src Source, path string) string { return strings.TrimPrefix(readLine(src, path), "0x") }

// gts reads "16.0 GT/s PCIe".
func gts(src Source, path string) float64 {
	num, _, _ := strings.Cut(readLine(src, path), " ")
	v, err := strconv.ParseFloat(num, 64)
	if err != nil || v < 0 || v > 1e3 {
		return 0 // "Unknown"
	}
	return v
}

func width(src Source, path string) int {
	v, err := strconv.Atoi(readLine(src, path))
	if err != nil || v < 0 || v > 32 {
		return 0 // 255 is the kernel's "unknown"
	}
	return v
}

// ueventValue returns one KEY=value of a device's uevent file.
func ueventValue(src Source, path, key string) string {
	b, err := src.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), key+"="); ok {
			return v
		}
	}
	return ""
}
