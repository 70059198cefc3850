package doctor

import (
	"fmt"
	"slices"
	"strings"

	"thundercollective/internal/topology"
	"thundercollective/internal/topology/probe"
)

func (x *examiner) machinePhysical(m *probe.Machine) {
	for _, p := range m.Problems {
		x.add(Check{ID: "machine.readable", Phase: Physical, Title: "reading " + p.What, Status: Warn, Command: p.What,
			Actual: "could not be read", Cause: p.String(),
			Fix: "run the command by hand; if its output looks right, report a bug with the file that `thunder support-bundle` writes"})
	}
	x.thunderbolt(m)
	for _, port := range m.Thunderbolt.Ports {
		port.AllDevices(func(n *probe.Node) { x.authorised(m, n) })
	}
	for i := range m.PCI {
		x.pcieLink(&m.PCI[i])
	}
	x.kernel(m)
	x.thunderboltNet(m)
	x.heat(m)
	if s := m.Power.SleepMinutes; s != nil {
		c := Check{ID: "machine.sleep", Phase: Physical, Title: "sleep", Status: Pass, Command: "pmset -g", Target: "never", Actual: "never"}
		if *s > 0 {
			c.Status, c.Actual = Warn, fmt.Sprintf("after %d minutes", *s)
			c.Cause = "a machine that goes to sleep loses its connections in the middle of a job"
			c.Fix = "sudo pmset -a sleep 0"
		}
		x.add(c)
	}
}

func (x *examiner) thunderbolt(m *probe.Machine) {
	c := Check{ID: "machine.thunderbolt", Phase: Physical, Title: "Thunderbolt", Command: thunderboltCommand(m)}
	if m.Thunderbolt.Controllers == 0 {
		c.Status, c.Actual = Absent, "no Thunderbolt or USB4 controller"
		if m.Virtual != "" {
			c.Actual += " (this is a virtual machine)"
		}
		if m.PortsUnknown() {
			c.Status, c.Actual = Skip, "could not be read"
		}
		x.add(c)
		return
	}
	used, best := 0, 0.0
	for _, p := range m.Thunderbolt.Ports {
		if p.Connected {
			used++
		}
		best = max(best, p.MaxGbps)
	}
	c.Status, c.Actual = Pass, fmt.Sprintf("%d ports up to %g Gb/s, %d in use", len(m.Thunderbolt.Ports), best, used)
	for _, d := range m.Thunderbolt.Domains {
		if d.Security != "" && d.Security != "none" {
			c.Actual += fmt.Sprintf("; %s security %q", d.Name, d.Security)
		}
		if d.IOMMU != nil && *d.IOMMU {
			c.Actual += fmt.Sprintf("; %s has DMA protection", d.Name)
		}
	}
	x.add(c)
}

func thunderboltCommand(m *probe.Machine) string {
	if m.OS.Kind == "darwin" {
		return "system_profiler SPThunderboltDataType"
	}
	return "ls /sys/bus/thunderbolt/devices"
}

// authorised checks that a device may tunnel PCIe. Otherwise the enclosure is visible,
// but not the card in it.
func (x *examiner) authorised(m *probe.Machine, n *probe.Node) {
	if n.Authorized == nil {
		return
	}
	name := strings.TrimSpace(n.Vendor + " " + n.Name)
	c := Check{ID: "machine.authorised", Phase: Physical, Title: "authorised", Status: Pass, Command: "boltctl list", Target: "authorized", Actual: name + " is authorised"}
	if *n.Authorized == 0 {
		c.Status, c.Actual = Fail, name+" is not authorised"
		c.Cause = "the kernel tunnels no PCIe to it until it is authorised, so the card inside is not visible"
		uuid := strings.ToLower(n.UUID)
		c.Fix = "sudo boltctl enroll --policy auto " + uuid
		if !m.HasTool("boltctl") {
			c.Fix = fmt.Sprintf("install bolt and run: sudo boltctl enroll --policy auto %s (once only: echo 1 | sudo tee /sys/bus/thunderbolt/devices/*-%s/authorized)", uuid, n.Route)
		}
	}
	if b := boltDevice(m, n.UUID); c.Status == Pass && b != nil && b.Type != "host" && b.Policy == "" && guarded(m) {
		c.Status, c.Cause = Warn, "bolt has not stored it, so it must be authorised again each time it is plugged in"
		c.Fix = "sudo boltctl enroll --policy auto " + strings.ToLower(n.UUID)
	}
	x.add(c)
}

func boltDevice(m *probe.Machine, uuid string) *probe.BoltDevice {
	for i := range m.Bolt {
		if m.Bolt[i].UUID == uuid {
			return &m.Bolt[i]
		}
	}
	return nil
}

// guarded reports whether devices must be authorised on this machine.
func guarded(m *probe.Machine) bool {
	return slices.ContainsFunc(m.Thunderbolt.Domains, func(d probe.Domain) bool { return d.Security == "user" || d.Security == "secure" })
}

// kernel lists the loaded modules that transports need, if there is hardware for them.
func (x *examiner) kernel(m *probe.Machine) {
	if m.OS.Kind != "linux" || m.Thunderbolt.Controllers == 0 && len(m.RDMA.Devices) == 0 {
		return
	}
	modules := "no module for Thunderbolt or RDMA"
	if len(m.Modules) > 0 {
		modules = strings.Join(m.Modules, ", ")
	}
	x.add(Check{ID: "machine.kernel", Phase: Physical, Title: "kernel", Status: Note, Command: "uname -r; lsmod",
		Actual: fmt.Sprintf("%s with %s; IOMMU %s", m.OS.Kernel, modules, m.IOMMU)})
}

// vendorMellanox is the PCI vendor of ConnectX cards.
const vendorMellanox = "15b3"

// pcieLink checks that a card runs at the speed and width that card and slot allow.
// Behind Thunderbolt the tunnel has at most four lanes.
func (x *examiner) pcieLink(d *probe.PCIDevice) {
	if d.Width == 0 || d.Speed == 0 || !(d.Thunderbolt || d.Vendor == vendorMellanox || len(d.RDMADevices) > 0) {
		return
	}
	width, speed := d.MaxWidth, d.MaxSpeed
	if d.SlotWidth > 0 {
		width = min(width, d.SlotWidth)
	}
	if d.SlotSpeed > 0 {
		speed = min(speed, d.SlotSpeed)
	}
	if d.Thunderbolt {
		width, speed = min(width, 4), min(speed, 16)
	}
	c := Check{
		ID: "machine.pcie", Phase: Physical, Title: "PCIe link of " + d.Address, Status: Pass,
		Command: "sudo lspci -vv -s " + d.Address + " | grep LnkSta",
		Target:  fmt.Sprintf("Speed %gGT/s, Width x%d", speed, width),
		Actual:  fmt.Sprintf("Speed %gGT/s, Width x%d", d.Speed, d.Width),
	}
	var wrong []string
	if d.Width < width {
		wrong = append(wrong, fmt.Sprintf("%d of %d lanes work", d.Width, width))
	}
	if d.Speed < speed {
		wrong = append(wrong, fmt.Sprintf("it runs at %g of %g GT/s", d.Speed, speed))
	}
	if len(wrong) > 0 {
		c.Status, c.Cause = Fail, strings.Join(wrong, " and ")
		c.Cause += fmt.Sprintf(", which limits it to %.1f GB/s", pcieGBs(d.Speed, d.Width))
		c.Fix = "reseat the card, then power the machine off and on"
		if d.Thunderbolt {
			c.Fix = "reseat the Thunderbolt cable at both ends and check the enclosure's power supply; then reseat the card, then try another cable"
		}
	}
	x.add(c)
}

// pcieGBs returns the rate of a PCIe link in one direction, in GB/s, after line coding.
func pcieGBs(gts float64, width int) float64 {
	coding := 128.0 / 130
	if gts < 8 {
		coding = 0.8
	}
	return gts * coding * float64(width) / 8
}

// thunderboltNet checks on Linux that cables to other computers have network interfaces.
func (x *examiner) thunderboltNet(m *probe.Machine) {
	if m.OS.Kind != "linux" {
		return
	}
	hosts, bare := 0, 0
	for _, p := range m.Thunderbolt.Ports {
		p.Hosts(func(n *probe.Node, _ []*probe.Node) {
			hosts++
			if n.Interface == "" {
				bare++
			}
		})
	}
	if hosts == 0 {
		return
	}
	c := Check{ID: "machine.thunderbolt-net", Phase: Physical, Title: "thunderbolt_net", Status: Pass, Command: "lsmod | grep thunderbolt_net",
		Target: "an interface for every cable", Actual: fmt.Sprintf("%d of %d cables have one", hosts-bare, hosts)}
	if bare > 0 {
		c.Status, c.Cause = Fail, "a cable has no network interface, because the module thunderbolt_net has not created one"
		c.Fix = "sudo modprobe thunderbolt_net && echo thunderbolt_net | sudo tee /etc/modules-load.d/thunderbolt_net.conf"
	}
	x.add(c)
}

func (x *examiner) heat(m *probe.Machine) {
	hottest := probe.Sensor{}
	for _, s := range m.Thermal.Sensors {
		if s.Celsius > hottest.Celsius {
			hottest = s
		}
	}
	c := Check{ID: "machine.heat", Phase: Physical, Title: "temperature", Status: Pass, Target: "no throttling", Actual: "no throttling reported"}
	if hottest.Name != "" {
		c.Actual = fmt.Sprintf("%s %.0f °C", hottest.Name, hottest.Celsius)
	} else if !m.Thermal.Known {
		return // as on most virtual machines
	}
	if m.Thermal.Throttled {
		c.Status, c.Actual, c.Cause = Warn, m.Thermal.Note, "the machine slows down because of heat, and so do measurements and jobs"
		c.Fix = "improve its cooling, clean the intakes, and measure again when it is cool"
	}
	x.add(c)
}

func (x *examiner) cablePhysical(c *topology.Cable) {
	ch := Check{ID: "cable.link", Phase: Physical, Title: "link", Status: Pass, Command: "thunder topo", Target: "seen from both ends",
		Actual: strings.TrimSpace(c.Speed()+" "+c.Label()) + ", matched by " + c.Match}
	switch {
	case c.Match == topology.ByOneEnd && !c.B.Known():
		ch.Status, ch.Actual = Note, strings.TrimSpace(c.Speed()+" "+c.Label())+" to a machine that is not in --hosts"
		ch.Fix = "add it: thunder doctor --hosts " + c.A.Host + ",<its name>"
	case c.Match == topology.ByOneEnd:
		ch.Status = Fail
		ch.Cause = fmt.Sprintf("%s sees %s, which sees nothing", c.A, c.B)
		ch.Fix = "push both plugs all the way in; if that does not help, try another port, then another cable"
	case c.Match == topology.ByAssumption:
		ch.Status = Warn
		ch.Cause = "one controller has several cables to the same machine, and the neighbour tables of the interfaces do not tell them apart"
		ch.Fix = fmt.Sprintf("ping the other end once on each interface (%s, ...) and run this again", c.A.Interface)
	case c.A.Machine == c.B.Machine:
		ch.Status, ch.Cause, ch.Fix = Warn, "both ends are in the same machine", "plug one end into another machine"
	}
	x.add(ch)
	if c.Kind == topology.Thunderbolt && c.A.Known() && c.B.Known() && c.Match != topology.ByOneEnd {
		x.cableSpeed(c)
	}
	if len(c.Via) > 0 {
		x.add(Check{ID: "cable.hub", Phase: Physical, Title: "hub", Status: Note, Actual: "through " + strings.Join(c.Via, ", "),
			Cause: "everything behind the hub shares one cable", Fix: "use a direct cable: it is faster and has fewer parts that can fail"})
	}
}

// cableSpeed checks that a Thunderbolt cable runs at the speed that both ports can do.
func (x *examiner) cableSpeed(c *topology.Cable) {
	can := min(x.portMax(c.A), x.portMax(c.B))
	if can == 0 || c.Gbps == 0 {
		return
	}
	ch := Check{ID: "cable.speed", Phase: Physical, Title: "speed", Status: Pass, Command: "thunder topo",
		Target: fmt.Sprintf("%g Gb/s", can), Actual: c.Speed()}
	if c.Gbps < can {
		ch.Status = Warn
		ch.Cause = fmt.Sprintf("both ports can do %g Gb/s; the cable or a hub between them cannot", can)
		ch.Fix = "use a cable certified for Thunderbolt 5, at most 1 m long unless active; reseat it first"
		if can <= 40 {
			ch.Fix = "use a certified 40 Gb/s cable, at most 0.8 m long unless active; reseat it first"
		}
	}
	x.add(ch)
}

func (x *examiner) portMax(e topology.End) float64 {
	for _, p := range x.g.Machines[e.Machine].Thunderbolt.Ports {
		if p.Number == e.Port {
			return p.MaxGbps
		}
	}
	return 0
}
