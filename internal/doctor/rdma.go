package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"thundercollective/internal/topology"
	"thundercollective/internal/topology/probe"
)

// minMemlock is how much memory the RDMA provider pins at least. With a lower limit,
// registration fails with "cannot allocate memory".
const minMemlock = 64 << 20

// minMacOS is the first version with RDMA over Thunderbolt.
var minMacOS = [2]int{26, 2}

func (x *examiner) machineRDMA(m *probe.Machine) {
	x.verbsPresent(m)
	if m.OS.Kind == "darwin" && canTB5(m) {
		x.macOSVersion(m)
	}
	if len(m.RDMA.Devices) > 0 {
		x.memlock(m)
	}
}

// canTB5 reports whether a machine has a Thunderbolt 5 port, which RDMA over Thunderbolt
// needs on a Mac.
func canTB5(m *probe.Machine) bool {
	return slices.ContainsFunc(m.Thunderbolt.Ports, func(p probe.Port) bool { return p.MaxGbps >= 80 })
}

func (x *examiner) verbsPresent(m *probe.Machine) {
	c := Check{ID: "machine.rdma", Phase: RDMA, Title: "verbs devices", Command: "ls /sys/class/infiniband", Target: "one or more"}
	if m.OS.Kind == "darwin" {
		c.Command = "rdma_ctl status; ibv_devices"
	}
	var names []string
	for _, d := range m.RDMA.Devices {
		names = append(names, d.Name)
	}
	switch {
	case len(names) > 0 && m.RDMA.Control == "disabled":
		c.Status, c.Actual = Warn, strings.Join(names, ", ")+", but rdma_ctl reports disabled"
		c.Cause, c.Fix = "RDMA was disabled after these devices were created", enableRDMA
	case len(names) > 0:
		c.Status, c.Actual = Pass, strings.Join(names, ", ")
	case m.RDMA.Control == "enabled" && !canTB5(m):
		c.Status, c.Actual = Warn, "rdma_ctl reports enabled, but there is no device"
		c.Cause = "RDMA needs Thunderbolt 5; the ports of this machine are Thunderbolt 4 or older"
		c.Fix = "nothing to fix: thunder uses TCP over these cables"
	case m.RDMA.Control == "enabled":
		c.Status, c.Actual = Fail, "rdma_ctl reports enabled, but there is no device"
		c.Cause = "the driver has created no device; it does so at a restart, if only Macs are plugged in"
		c.Fix = "restart; if that does not help, check the macOS version below"
	case m.RDMA.Control == "disabled" && canTB5(m):
		c.Status, c.Actual = Warn, "rdma_ctl reports disabled"
		c.Cause, c.Fix = "RDMA over Thunderbolt must be enabled once in Recovery", enableRDMA
	default:
		c.Status, c.Actual = Absent, "no RDMA device"
		if slices.ContainsFunc(m.PCI, func(d probe.PCIDevice) bool { return d.Vendor == vendorMellanox && !m.HasModule("mlx5_ib") }) {
			c.Status, c.Cause, c.Fix = Fail, "there is a ConnectX card, but mlx5_ib is not loaded", "sudo modprobe mlx5_ib"
		}
	}
	x.add(c)
}

const enableRDMA = "start into Recovery (hold the power button), open Terminal, run: rdma_ctl enable, restart"

func (x *examiner) macOSVersion(m *probe.Machine) {
	c := Check{ID: "machine.macos", Phase: RDMA, Title: "macOS", Status: Pass, Command: "sw_vers", Target: "26.2 or newer", Actual: fmt.Sprintf("%s (%s)", m.OS.Version, m.OS.Build)}
	if m.OS.Version == "" {
		return
	}
	if older(m.OS.Version, minMacOS) {
		c.Status, c.Cause, c.Fix = Fail, "RDMA over Thunderbolt needs macOS 26.2 or newer", "update macOS on this machine (System Settings, General, Software Update)"
	}
	x.add(c)
}

// older reports whether a version like "26.1.3" is before major.minor.
func older(version string, than [2]int) bool {
	parts := strings.SplitN(version, ".", 3)
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return false
	}
	minor := 0
	if len(parts) > 1 {
		minor, _ = strconv.Atoi(parts[1])
	}
	return major < than[0] || major == than[0] && minor < than[1]
}

func (x *examiner) memlock(m *probe.Machine) {
	l := m.Limits
	c := Check{ID: "machine.memlock", Phase: RDMA, Title: "locked memory", Status: Pass, Command: "ulimit -l", Target: "unlimited", Actual: mib(l.Memlock)}
	switch {
	case l.NoMemlock:
		c.Actual = "unlimited"
	case l.Memlock == 0:
		return
	case l.Memlock < minMemlock:
		c.Status, c.Cause = Fail, "RDMA pins its buffers, and this limit is smaller than one buffer"
		c.Fix = "printf '* soft memlock unlimited\\n* hard memlock unlimited\\n' | sudo tee /etc/security/limits.d/90-thunder.conf, then log in again"
	default:
		c.Status, c.Cause = Warn, "registering large buffers for RDMA will fail"
		c.Fix = "printf '* soft memlock unlimited\\n* hard memlock unlimited\\n' | sudo tee /etc/security/limits.d/90-thunder.conf, then log in again"
	}
	x.add(c)
}

// cableRDMA checks the verbs devices at both ends, if there are any.
func (x *examiner) cableRDMA(c *topology.Cable) {
	ends := []topology.End{c.A, c.B}
	for _, e := range ends {
		m := x.g.Machines[e.Machine]
		if topology.NoRDMAPort(m, e.Interface) {
			x.add(Check{ID: "cable.rdma-port", Phase: RDMA, Title: "port at " + e.Host, Status: Fail, Target: "a port that can do RDMA", Actual: e.String() + " (" + e.Interface + ") cannot",
				Cause: "on a Mac Studio the Thunderbolt port next to the Ethernet port cannot do RDMA", Fix: moveFix(m, e)})
			continue
		}
		x.verbsEnd(e)
	}
}

func moveFix(m *probe.Machine, e topology.End) string {
	for _, p := range m.Thunderbolt.Ports {
		if !p.Connected && !topology.NoRDMAPort(m, p.Interface) {
			return fmt.Sprintf("move the plug from %s to port %d", e, p.Number)
		}
	}
	return "move the plug to another port of " + e.Host
}

func (x *examiner) verbsEnd(e topology.End) {
	d := x.g.Verbs(e)
	if d == nil {
		return // verbsPresent reports whether there should be one
	}
	c := Check{ID: "cable.verbs", Phase: RDMA, Title: "verbs at " + e.Host, Command: "ibv_devinfo -d " + d.Name, Target: "PORT_ACTIVE and an IPv4 GID"}
	i := slices.IndexFunc(d.Ports, func(p probe.RDMAPort) bool { return p.Active() })
	switch {
	case len(d.Ports) == 0:
		c.Status, c.Actual, c.Cause = Skip, "the port state of "+d.Name+" is unknown", "ibv_devinfo could not be read"
	case i < 0:
		c.Status, c.Actual = Fail, d.Name+" is "+portState(d.Ports[0].State)
		c.Cause = "the cable is plugged in, but RDMA does not work on it: RDMA is disabled at the other end, or the driver hangs after an earlier crash"
		c.Fix = "check that rdma_ctl reports enabled on both machines; then unplug the cable for ten seconds; then restart " + e.Host
		if x.g.Machines[e.Machine].OS.Kind == "linux" {
			c.Cause = "the network port has no link"
			c.Fix = "check the cable and the transceiver; then: ip link set " + e.Interface + " up"
		}
	case d.Ports[i].LinkLayer != "InfiniBand" && d.Ports[i].IPv4GID() < 0:
		c.Status, c.Actual = Fail, d.Name+" is PORT_ACTIVE, without an IPv4 GID"
		c.Cause = "connections use a GID made from the interface's IPv4 address, and there is no such address"
		c.Fix = x.setupFix()
	default:
		c.Status, c.Actual = Pass, d.Name+" is PORT_ACTIVE"
		if g := d.Ports[i].IPv4GID(); g >= 0 {
			c.Actual += fmt.Sprintf(", GID %d is %s", g, d.Ports[i].GIDs[g])
		}
	}
	x.add(c)
}

// portState formats a state as ibv_devinfo does.
func portState(s string) string {
	if s == "" {
		return "in an unknown state"
	}
	return "PORT_" + s
}
