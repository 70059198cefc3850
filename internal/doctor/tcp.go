package doctor

import (
	"fmt"
	"strings"

	"thundercollective/internal/topology"
	"thundercollective/internal/topology/probe"
)

// minSocketBuffer is enough for one stream to saturate a fast cable: 100 Gb/s times
// 0.3 ms.
const minSocketBuffer = 4 << 20

func (x *examiner) machineTCP(m *probe.Machine) {
	l := m.Limits
	if l.SocketRead > 0 && l.SocketSend > 0 {
		c := Check{ID: "machine.buffers", Phase: TCP, Title: "socket buffers", Status: Pass, Target: "4 MiB or more",
			Actual:  fmt.Sprintf("%s to read, %s to send", mib(l.SocketRead), mib(l.SocketSend)),
			Command: "sysctl net.core.rmem_max net.core.wmem_max"}
		if m.OS.Kind == "darwin" {
			c.Command = "sysctl kern.ipc.maxsockbuf"
		}
		if l.SocketRead < minSocketBuffer || l.SocketSend < minSocketBuffer {
			c.Status, c.Cause = Warn, "one stream cannot saturate a fast cable with so little data in flight"
			c.Fix = "printf 'net.core.rmem_max=67108864\\nnet.core.wmem_max=67108864\\nnet.ipv4.tcp_rmem=4096 131072 67108864\\nnet.ipv4.tcp_wmem=4096 65536 67108864\\n' | sudo tee /etc/sysctl.d/90-thunder.conf && sudo sysctl --system"
			if m.OS.Kind == "darwin" {
				c.Fix = "sudo sysctl kern.ipc.maxsockbuf=8388608"
			}
		}
		x.add(c)
	}
	x.firewall(m)
}

func (x *examiner) firewall(m *probe.Machine) {
	c := Check{ID: "machine.firewall", Phase: TCP, Title: "firewall", Status: Pass, Target: "accepts connections to thunder", Actual: m.Firewall.State}
	allow := "allow the Thunderbolt interfaces in the firewall's settings"
	if m.OS.Kind == "darwin" {
		c.Command = "/usr/libexec/ApplicationFirewall/socketfilterfw --getglobalstate"
		allow = "sudo /usr/libexec/ApplicationFirewall/socketfilterfw --add $(which thunder) --unblockapp $(which thunder)"
	}
	switch m.Firewall.State {
	case "":
		return
	case "on":
		c.Status, c.Cause, c.Fix = Warn, "it may refuse connections from other ranks", allow
	case "block-all":
		c.Status, c.Cause = Fail, "it refuses every incoming connection, so other ranks cannot connect to a rank on this machine"
		c.Fix = "sudo /usr/libexec/ApplicationFirewall/socketfilterfw --setblockall off, then " + allow
	}
	x.add(c)
}

func (x *examiner) cableTCP(c *topology.Cable) {
	a, b := x.g.Interface(c.A), x.g.Interface(c.B)
	for _, e := range []struct {
		end topology.End
		itf *probe.Interface
	}{{c.A, a}, {c.B, b}} {
		if e.itf == nil {
			x.add(Check{ID: "cable.interface", Phase: TCP, Title: "interface at " + e.end.String(), Status: Skip, Target: "a network interface",
				Actual: "not found", Cause: "the interface of this port is unknown"})
			continue
		}
		x.bridge(e.end, e.itf)
		if !e.itf.Up {
			x.add(Check{ID: "cable.up", Phase: TCP, Title: "interface up", Status: Fail, Command: "ip link show " + e.itf.Name, Target: "up", Actual: e.end.String() + " " + e.itf.Name + " is down",
				Cause: "the interface was never brought up", Fix: x.setupFix()})
		}
	}
	if a == nil || b == nil {
		return
	}
	x.addresses(c, a, b)
	x.mtu(c, a, b)
}

// bridge checks that a port is not in a bridge, which hides the port's address and, with
// a second cable, makes a loop.
func (x *examiner) bridge(e topology.End, itf *probe.Interface) {
	c := Check{ID: "cable.bridge", Phase: TCP, Title: "bridge at " + e.Host, Status: Pass, Target: "none", Actual: itf.Name + " is in no bridge", Command: "ifconfig bridge0"}
	if x.g.Machines[e.Machine].OS.Kind == "linux" {
		c.Command = "ip link show master <bridge>"
	}
	if itf.Bridge != "" {
		c.Status, c.Actual = Fail, itf.Name+" is in "+itf.Bridge
		c.Cause = "a port in a bridge cannot have an address of its own; with a second cable between two machines, the bridge makes a loop"
		c.Fix = x.setupFix()
	}
	x.add(c)
}

func (x *examiner) addresses(c *topology.Cable, a, b *probe.Interface) {
	pa, okA := a.IPv4()
	pb, okB := b.IPv4()
	ch := Check{ID: "cable.address", Phase: TCP, Title: "addresses", Status: Pass, Command: "thunder topo --json", Target: "IPv4 in the same subnet at both ends"}
	switch {
	case !okA || !okB:
		var who []string
		if !okA {
			who = append(who, c.A.String()+" ("+a.Name+")")
		}
		if !okB {
			who = append(who, c.B.String()+" ("+b.Name+")")
		}
		ch.Status, ch.Actual = Fail, "no IPv4 on "+strings.Join(who, " and ")
		ch.Cause, ch.Fix = "the port has no address, which TCP and RDMA need to connect", x.setupFix()
	case !topology.SameSubnet(a, b):
		ch.Status, ch.Actual = Fail, fmt.Sprintf("%s and %s", pa, pb)
		ch.Cause, ch.Fix = "the two ends are in different subnets", x.setupFix()
	default:
		ch.Actual = fmt.Sprintf("%s and %s", pa, pb)
		for _, e := range []topology.End{c.A, c.B} {
			if other := x.sharesSubnet(e); other != "" {
				ch.Status = Fail
				ch.Cause = fmt.Sprintf("on %s, %s is in the same subnet, so packets may leave through either interface", e.Host, other)
				ch.Fix = x.setupFix()
			}
		}
	}
	x.add(ch)
}

// sharesSubnet returns the name of another interface of the end's machine that is in the
// end's subnet.
func (x *examiner) sharesSubnet(e topology.End) string {
	m, mine := x.g.Machines[e.Machine], x.g.Interface(e)
	for i := range m.Interfaces {
		if o := &m.Interfaces[i]; o.Name != mine.Name && topology.SameSubnet(mine, o) {
			return o.Name
		}
	}
	return ""
}

func (x *examiner) mtu(c *topology.Cable, a, b *probe.Interface) {
	ch := Check{ID: "cable.mtu", Phase: TCP, Title: "MTU", Status: Pass, Command: "thunder topo --json", Target: "equal, 9000 or more", Actual: fmt.Sprintf("%d and %d", a.MTU, b.MTU)}
	switch {
	case a.MTU != b.MTU:
		ch.Status, ch.Cause, ch.Fix = Fail, "one end drops the large packets of the other", x.setupFix()
	case a.MTU < 9000:
		ch.Status, ch.Cause, ch.Fix = Warn, "every packet costs processor time, and small packets are many", x.setupFix()
	}
	x.add(ch)
}

// setupFix returns the command that sets the addresses of all machines.
func (x *examiner) setupFix() string { return SetupCommand(x.g) }

// SetupCommand returns the command line that sets up the ports of all machines.
func SetupCommand(g *topology.Graph) string {
	if len(g.Machines) < 2 {
		return "sudo thunder setup --apply"
	}
	names := make([]string, len(g.Machines))
	for i, m := range g.Machines {
		names[i] = m.Host
	}
	return "thunder setup --hosts " + strings.Join(names, ",") + " --sudo --apply"
}

func mib(n uint64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
