package probe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// toolsScript prints the installed helper programs, one path per line.
const toolsScript = "for c in boltctl ib_write_bw ib_send_lat ibv_devinfo rdma ethtool thunder; do command -v $c; done; true"

func (p *prober) linux() {
	src, m := p.src, p.m
	p.step("operating system", func(context.Context) error {
		if b, err := src.ReadFile("etc/os-release"); err == nil {
			m.OS.Name, m.OS.Version = ParseOSRelease(b)
		}
		m.OS.Kernel = readLine(src, "proc/sys/kernel/osrelease")
		m.Host = readLine(src, "proc/sys/kernel/hostname")
		m.Model = strings.TrimSpace(readLine(src, "sys/class/dmi/id/sys_vendor") + " " + readLine(src, "sys/class/dmi/id/product_name"))
		m.Virtual = virtualVendor(readLine(src, "sys/class/dmi/id/sys_vendor"), readLine(src, "sys/hypervisor/type"))
		return nil
	})
	p.step("processor and memory", func(context.Context) error {
		b, err := src.ReadFile("proc/cpuinfo")
		if err != nil {
			return err
		}
		m.CPU = ParseCPUInfo(b)
		b, err = src.ReadFile("proc/meminfo")
		if err != nil {
			return err
		}
		m.Memory = ParseMemInfo(b)
		return nil
	})
	p.step("graphics cards", func(context.Context) error { m.GPUs = readGPUs(src); return nil })
	p.step("/"+tbDevices, func(context.Context) (err error) { m.Thunderbolt, err = readTBSysfs(src); return err })
	p.step("/"+ibDevices, func(context.Context) (err error) { m.RDMA.Devices, err = readRDMASysfs(src); return err })
	p.step("/"+pciDevices, func(context.Context) (err error) { m.PCI, err = readPCI(src); return err })
	p.step("temperatures", func(context.Context) error { m.Thermal = readThermal(src); return nil })
	p.step("limits", p.linuxLimits)
	p.step("/proc/modules", func(context.Context) error {
		b, err := src.ReadFile("proc/modules")
		m.Modules = ParseModules(b)
		return err
	})
	p.step("/sys/class/iommu", func(context.Context) error {
		units, err := src.ReadDir("sys/class/iommu")
		if m.IOMMU = "off"; err == nil && len(units) > 0 {
			m.IOMMU = "on"
		}
		return err
	})
	p.step("firewall", func(context.Context) error {
		m.Firewall.State = linuxFirewall(src)
		return nil
	})
	p.step("ip -j -d addr", func(ctx context.Context) (err error) {
		m.Interfaces, err = linuxInterfaces(ctx, src)
		return err
	})
	p.command(func(b []byte) (err error) { m.Routes, err = ParseIPRoute(b); return err }, "ip", "-j", "route")
	p.command(func(b []byte) (err error) { m.Neighbours, err = ParseIPNeigh(b); return err }, "ip", "-j", "neigh")
	p.command(func(b []byte) (err error) { m.Bolt, err = ParseBolt(b); return err }, "boltctl", "list")
	p.command(func(b []byte) error { m.Tools = baseNames(b); return nil }, "sh", "-c", toolsScript)
	p.wait()
}

func (p *prober) linuxLimits(context.Context) error {
	src, l := p.src, &p.m.Limits
	l.SocketRead = lastUint(readLine(src, "proc/sys/net/core/rmem_max"))
	l.SocketSend = lastUint(readLine(src, "proc/sys/net/core/wmem_max"))
	l.TCPRead = lastUint(readLine(src, "proc/sys/net/ipv4/tcp_rmem"))
	l.TCPSend = lastUint(readLine(src, "proc/sys/net/ipv4/tcp_wmem"))
	b, err := src.ReadFile("proc/self/limits")
	if err != nil {
		return err
	}
	l.Memlock, l.NoMemlock = ParseLimits(b)
	return nil
}

// linuxInterfaces runs `ip` and adds what only sysfs has. Without `ip` it still lists the
// interfaces, but not their addresses.
func linuxInterfaces(ctx context.Context, src Source) ([]Interface, error) {
	b, err := src.Run(ctx, "ip", "-j", "-d", "addr")
	var out []Interface
	if err == nil {
		out, err = ParseIPAddr(b)
	}
	if errors.Is(err, ErrNoCommand) {
		// Unlike other commands, a missing ip is a problem: addresses are unknown.
		err = errors.New("ip is not installed (package iproute2), so addresses are unknown")
	}
	if out == nil {
		names, errDir := src.ReadDir("sys/class/net")
		if errDir != nil {
			return nil, errors.Join(err, errDir)
		}
		for _, n := range names {
			mtu, _ := strconv.Atoi(readLine(src, "sys/class/net/"+n+"/mtu"))
			state := readLine(src, "sys/class/net/"+n+"/operstate")
			out = append(out, Interface{
				Name: n, MTU: mtu, Up: state == "up", Running: state == "up",
				MAC: normalMAC(readLine(src, "sys/class/net/"+n+"/address")),
			})
		}
	}
	for i := range out {
		dir := "sys/class/net/" + out[i].Name
		out[i].Driver = ueventValue(src, dir+"/device/uevent", "DRIVER")
		out[i].PCI = ueventValue(src, dir+"/device/uevent", "PCI_SLOT_NAME")
		if v, err := strconv.Atoi(readLine(src, dir+"/speed")); err == nil && v > 0 {
			out[i].Mbps = v
		}
		if out[i].Driver == "thunderbolt-net" {
			out[i].Kind = "thunderbolt"
		}
	}
	if err != nil {
		return out, fmt.Errorf("interface addresses: %w", err)
	}
	return out, nil
}

func virtualVendor(vendor, hypervisor string) string {
	for _, v := range []string{"QEMU", "VMware", "Amazon EC2", "Microsoft Corporation Virtual", "innotek", "Xen", "Google"} {
		if strings.HasPrefix(vendor, v) {
			return vendor
		}
	}
	return hypervisor
}

func linuxFirewall(src Source) string {
	if b, err := src.ReadFile("etc/ufw/ufw.conf"); err == nil && strings.Contains(string(b), "ENABLED=yes") {
		return "on"
	}
	if _, err := src.ReadDir("run/firewalld"); err == nil {
		return "on"
	}
	return ""
}

func baseNames(b []byte) []string {
	var out []string
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line != "" {
			out = append(out, line[strings.LastIndexByte(line, '/')+1:])
		}
	}
	return out
}
