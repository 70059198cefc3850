package probe

import (
	"strconv"
	"strings"
)

// macSysctls are read in one call.
var macSysctls = []string{
	"hw.model", "hw.memsize", "hw.ncpu", "machdep.cpu.brand_string", "kern.hostname", "kern.osrelease",
	"kern.ipc.maxsockbuf", "net.inet.tcp.autorcvbufmax", "net.inet.tcp.autosndbufmax",
}

const macFirewall = "/usr/libexec/ApplicationFirewall/socketfilterfw"

func (p *prober) darwin() {
	m := p.m
	p.command(func(b []byte) error {
		kernel := m.OS.Kernel
		m.OS = ParseSwVers(b)
		m.OS.Kernel = kernel
		return nil
	}, "sw_vers")
	var sys map[string]string
	p.command(func(b []byte) error { sys = ParseSysctl(b); return nil }, "sysctl", macSysctls...)
	p.command(func(b []byte) (err error) { m.Thunderbolt, err = ParseProfiler(b); return err },
		"system_profiler", "SPThunderboltDataType", "-json")
	p.command(func(b []byte) (err error) { m.GPUs, err = ParseDisplays(b); return err },
		"system_profiler", "SPDisplaysDataType", "-json")
	p.command(func(b []byte) (err error) { m.Interfaces, err = ParseIfconfig(b); return err }, "ifconfig", "-a")
	var hwPorts map[string]string
	p.command(func(b []byte) (err error) { hwPorts, err = ParseHardwarePorts(b); return err },
		"networksetup", "-listallhardwareports")
	p.command(func(b []byte) (err error) { m.Routes, err = ParseNetstat(b); return err }, "netstat", "-rn", "-f", "inet")
	p.command(func(b []byte) error { m.Neighbours = ParseARP(b); return nil }, "arp", "-an")
	p.command(func(b []byte) (err error) { m.RDMA.Control, err = ParseRDMAControl(b); return err }, "rdma_ctl", "status")
	var listed []string
	p.command(func(b []byte) error { listed = ParseIBVDevices(b); return nil }, "ibv_devices")
	p.command(func(b []byte) error { m.RDMA.Devices = ParseIBVDevinfo(b); return nil }, "ibv_devinfo", "-v")
	p.command(func(b []byte) error { m.Power.SleepMinutes = ParsePmset(b); return nil }, "pmset", "-g")
	p.command(func(b []byte) error { m.Thermal = ParsePmsetTherm(b); return nil }, "pmset", "-g", "therm")
	p.command(func(b []byte) (err error) { m.Firewall.State, err = ParseFirewall(b); return err }, macFirewall, "--getglobalstate")
	p.command(func(b []byte) error {
		m.Limits.Memlock, m.Limits.NoMemlock = ParseUlimit(b)
		return nil
	}, "sh", "-c", "ulimit -l")
	p.command(func(b []byte) error { m.Tools = baseNames(b); return nil }, "sh", "-c", toolsScript)
	p.wait()

	p.macSystem(sys)
	p.macInterfaces(hwPorts)
	for _, name := range listed {
		if m.rdmaDevice(name) == nil { // ibv_devinfo failed or was cut short
			m.RDMA.Devices = append(m.RDMA.Devices, RDMADevice{Name: name})
		}
	}
	for i := range m.RDMA.Devices {
		d := &m.RDMA.Devices[i]
		if itf, ok := strings.CutPrefix(d.Name, "rdma_"); ok {
			d.Interface = itf
		}
	}
}

// macSystem sets the fields that come from sysctl.
func (p *prober) macSystem(sys map[string]string) {
	m := p.m
	m.Host, m.Model, m.OS.Kernel = strings.TrimSuffix(sys["kern.hostname"], ".local"), sys["hw.model"], sys["kern.osrelease"]
	m.CPU.Model = sys["machdep.cpu.brand_string"]
	m.CPU.Cores, _ = strconv.Atoi(sys["hw.ncpu"])
	m.Memory = lastUint(sys["hw.memsize"])
	// macOS has one limit for both directions.
	m.Limits.SocketRead, m.Limits.SocketSend = lastUint(sys["kern.ipc.maxsockbuf"]), lastUint(sys["kern.ipc.maxsockbuf"])
	m.Limits.TCPRead, m.Limits.TCPSend = lastUint(sys["net.inet.tcp.autorcvbufmax"]), lastUint(sys["net.inet.tcp.autosndbufmax"])
}

// macInterfaces sets the hardware port of each interface, and the interface of each
// Thunderbolt receptacle: receptacle 3 is "Thunderbolt 3".
func (p *prober) macInterfaces(hwPorts map[string]string) {
	m := p.m
	for i := range m.Interfaces {
		itf := &m.Interfaces[i]
		itf.Port = hwPorts[itf.Name]
		num, ok := strings.CutPrefix(itf.Port, "Thunderbolt ")
		n, err := strconv.Atoi(num)
		if !ok || err != nil {
			continue // such as "Thunderbolt Bridge"
		}
		itf.Kind = "thunderbolt"
		for j := range m.Thunderbolt.Ports {
			if m.Thunderbolt.Ports[j].Number == n {
				m.Thunderbolt.Ports[j].Interface = itf.Name
			}
		}
	}
}
