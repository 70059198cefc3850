package probe

import "net/netip"

// SchemaVersion is the version of Machine. It is part of every report, so that a report
// of another version can be recognised.
const SchemaVersion = 1

// A Machine is the report of one machine. It contains facts only.
type Machine struct {
	Schema  int    `json:"schema"`
	Host    string `json:"host"`            // its name, from the user or the machine itself
	SSH     string `json:"ssh,omitempty"`   // its ssh destination, if known
	Model   string `json:"model,omitempty"` // "Mac15,14", "AMD Ryzen AI Max+ board"
	OS      OS     `json:"os"`
	CPU     CPU    `json:"cpu"`
	Memory  uint64 `json:"memory_bytes,omitempty"`
	GPUs    []GPU  `json:"gpus,omitempty"`
	Virtual string `json:"virtual,omitempty"` // name of the hypervisor, if this is a virtual machine

	Thunderbolt Thunderbolt  `json:"thunderbolt"`
	Interfaces  []Interface  `json:"interfaces,omitempty"`
	Routes      []Route      `json:"routes,omitempty"`
	Neighbours  []Neighbour  `json:"neighbours,omitempty"`
	PCI         []PCIDevice  `json:"pci,omitempty"` // network and RDMA cards, Thunderbolt controllers
	RDMA        RDMA         `json:"rdma"`
	Modules     []string     `json:"modules,omitempty"` // loaded kernel modules, of those that matter here
	IOMMU       string       `json:"iommu,omitempty"`   // Linux: "on", "off"
	Limits      Limits       `json:"limits"`
	Thermal     Thermal      `json:"thermal"`
	Power       Power        `json:"power"`
	Firewall    Firewall     `json:"firewall"`
	Tools       []string     `json:"tools,omitempty"` // installed helper programs: boltctl, ib_write_bw, ...
	Bolt        []BoltDevice `json:"bolt,omitempty"`

	Problems []Problem `json:"problems,omitempty"`

	// Lost is why the machine did not answer; then nothing else is known about it.
	Lost string `json:"lost,omitempty"`
}

// A Problem is something that could not be read.
type Problem struct {
	What string `json:"what"` // file or command
	Why  string `json:"why"`
}

func (p Problem) String() string { return "could not read " + p.What + ": " + p.Why }

// OS is the operating system.
type OS struct {
	Kind    string `json:"kind"`              // "linux" or "darwin"
	Name    string `json:"name,omitempty"`    // "Ubuntu 24.04.1 LTS", "macOS"
	Version string `json:"version,omitempty"` // "24.04", "26.2"
	Build   string `json:"build,omitempty"`   // macOS only, "25C56"
	Kernel  string `json:"kernel,omitempty"`
}

// CPU is the processor.
type CPU struct {
	Model string `json:"model,omitempty"`
	Cores int    `json:"cores,omitempty"` // logical ones
}

// A GPU is a graphics or compute device.
type GPU struct {
	Name  string `json:"name"`
	Cores int    `json:"cores,omitempty"`
}

// Thunderbolt is the Thunderbolt/USB4 hardware of a machine.
type Thunderbolt struct {
	Controllers int      `json:"controllers"`
	Domains     []Domain `json:"domains,omitempty"`
	Ports       []Port   `json:"ports,omitempty"`
}

// A Domain is one host router with its own identity.
type Domain struct {
	Name     string `json:"name"`               // "domain0", "thunderboltusb4_bus_1"
	UUID     string `json:"uuid,omitempty"`     // upper case
	Security string `json:"security,omitempty"` // Linux: none, user, secure, dponly, usbonly, nopcie
	IOMMU    *bool  `json:"iommu_dma_protection,omitempty"`
}

// A Port is one receptacle of this machine.
type Port struct {
	Number    int     `json:"number"`           // printed on the case, or counted from 1
	Name      string  `json:"name"`             // the operating system's name for it
	Domain    string  `json:"domain,omitempty"` // UUID of its domain, upper case
	Connected bool    `json:"connected"`
	Gbps      float64 `json:"gbps,omitempty"`     // negotiated, in one direction; 0 if nothing is plugged in
	MaxGbps   float64 `json:"max_gbps,omitempty"` // of the port
	Lanes     int     `json:"lanes,omitempty"`
	Interface string  `json:"interface,omitempty"` // network interface of the port, if it has a fixed one
	Devices   []Node  `json:"devices,omitempty"`   // what is plugged in, a tree
}

// Kinds of Node.
const (
	KindDevice = "device" // hub, dock, enclosure, drive
	KindHost   = "host"   // another computer
)

// A Node is a device or another host in the tree of what is plugged into a Port.
type Node struct {
	Kind       string   `json:"kind"`
	Name       string   `json:"name,omitempty"`
	Vendor     string   `json:"vendor,omitempty"`
	UUID       string   `json:"uuid,omitempty"` // upper case; of a host: the identity of its domain
	Route      string   `json:"route,omitempty"`
	Generation string   `json:"generation,omitempty"` // "3", "4", "usb_four_v2", as the system reports it
	Authorized *int     `json:"authorized,omitempty"` // Linux; 0 if it may not tunnel PCIe
	Gbps       float64  `json:"gbps,omitempty"`
	Lanes      int      `json:"lanes,omitempty"`
	Services   []string `json:"services,omitempty"`  // of a host: "network", "rdma"
	Interface  string   `json:"interface,omitempty"` // of a host on Linux: the interface that leads there
	Children   []Node   `json:"children,omitempty"`
}

// An Interface is a network interface.
type Interface struct {
	Name    string         `json:"name"`
	MAC     string         `json:"mac,omitempty"`
	MTU     int            `json:"mtu,omitempty"`
	MaxMTU  int            `json:"max_mtu,omitempty"`
	Up      bool           `json:"up"`                // administratively
	Running bool           `json:"running"`           // has a carrier
	Kind    string         `json:"kind,omitempty"`    // "thunderbolt", "bridge", "veth", "ethernet", "loopback", ...
	Driver  string         `json:"driver,omitempty"`  // Linux
	Bridge  string         `json:"bridge,omitempty"`  // the bridge or bond it belongs to
	Members []string       `json:"members,omitempty"` // of a bridge
	Mbps    int            `json:"mbps,omitempty"`
	PCI     string         `json:"pci,omitempty"`  // address of its card
	Port    string         `json:"port,omitempty"` // hardware port as macOS calls it, "Thunderbolt 3"
	Addrs   []netip.Prefix `json:"addrs,omitempty"`
}

// IPv4 returns the interface's first usable IPv4 address. Self-assigned addresses
// (169.254/16) do not count: with them, the two ends of a cable have no common subnet.
func (i *Interface) IPv4() (netip.Prefix, bool) {
	for _, a := range i.Addrs {
		if a.Addr().Is4() && !a.Addr().IsLinkLocalUnicast() {
			return a, true
		}
	}
	return netip.Prefix{}, false
}

// A Route is an entry of the routing table.
type Route struct {
	Dst       netip.Prefix `json:"dst"`
	Interface string       `json:"interface,omitempty"`
}

// A Neighbour is an entry of the neighbour (ARP) table.
type Neighbour struct {
	Interface string     `json:"interface"`
	MAC       string     `json:"mac"`
	Addr      netip.Addr `json:"addr"`
}

// A PCIDevice is a card with the present and the possible speed of its link.
type PCIDevice struct {
	Address     string   `json:"address"`
	Vendor      string   `json:"vendor,omitempty"` // "15b3"
	Device      string   `json:"device,omitempty"`
	Class       string   `json:"class,omitempty"` // "020000"
	Driver      string   `json:"driver,omitempty"`
	Speed       float64  `json:"speed_gts,omitempty"`
	Width       int      `json:"width,omitempty"`
	MaxSpeed    float64  `json:"max_speed_gts,omitempty"` // of the card
	MaxWidth    int      `json:"max_width,omitempty"`
	SlotSpeed   float64  `json:"slot_speed_gts,omitempty"` // of the bridge above it
	SlotWidth   int      `json:"slot_width,omitempty"`
	Thunderbolt bool     `json:"thunderbolt,omitempty"` // behind a Thunderbolt cable
	Interfaces  []string `json:"interfaces,omitempty"`
	RDMADevices []string `json:"rdma_devices,omitempty"`
}

// RDMA is the RDMA setup of a machine.
type RDMA struct {
	Control string       `json:"control,omitempty"` // macOS `rdma_ctl status`: "enabled", "disabled"
	Devices []RDMADevice `json:"devices,omitempty"`
}

// An RDMADevice is one verbs device.
type RDMADevice struct {
	Name      string     `json:"name"`
	Transport string     `json:"transport,omitempty"`
	GUID      string     `json:"guid,omitempty"`
	Interface string     `json:"interface,omitempty"` // the network interface it belongs to
	Ports     []RDMAPort `json:"ports,omitempty"`
}

// An RDMAPort is one port of a verbs device.
type RDMAPort struct {
	Number    int      `json:"number"`
	State     string   `json:"state,omitempty"` // "ACTIVE", "DOWN", "INIT", "ARMED"
	Phys      string   `json:"phys,omitempty"`
	LinkLayer string   `json:"link_layer,omitempty"`
	Gbps      float64  `json:"gbps,omitempty"`
	MTU       int      `json:"mtu,omitempty"`
	GIDs      []string `json:"gids,omitempty"` // "" where the slot is empty
}

// Active reports whether the port carries traffic.
func (p *RDMAPort) Active() bool { return p.State == "ACTIVE" }

// IPv4GID returns the index of the first GID made from an IPv4 address, or -1. Both ends
// need one: with other GIDs, connections fail on Apple's stack.
func (p *RDMAPort) IPv4GID() int {
	for i, g := range p.GIDs {
		a, err := netip.ParseAddr(g)
		if err == nil && a.Is4In6() {
			return i
		}
	}
	return -1
}

// Limits are limits of the operating system that affect speed.
type Limits struct {
	Memlock    uint64 `json:"memlock_bytes"` // 0 if unknown
	NoMemlock  bool   `json:"memlock_unlimited,omitempty"`
	SocketRead uint64 `json:"socket_read_max,omitempty"` // largest receive buffer that a program may set
	SocketSend uint64 `json:"socket_send_max,omitempty"`
	TCPRead    uint64 `json:"tcp_read_max,omitempty"` // largest receive buffer that the kernel chooses itself
	TCPSend    uint64 `json:"tcp_send_max,omitempty"`
}

// Thermal is the temperature of the machine.
type Thermal struct {
	Known     bool     `json:"known,omitempty"` // it could be read
	Sensors   []Sensor `json:"sensors,omitempty"`
	Throttled bool     `json:"throttled,omitempty"`
	Note      string   `json:"note,omitempty"`
}

// A Sensor is a temperature sensor.
type Sensor struct {
	Name     string  `json:"name"`
	Celsius  float64 `json:"celsius"`
	Critical float64 `json:"critical,omitempty"`
}

// Power holds the setting that may put the machine to sleep during a job.
type Power struct {
	SleepMinutes *int `json:"sleep_minutes,omitempty"` // 0 means never
}

// Firewall tells whether connections from other machines are filtered.
type Firewall struct {
	State string `json:"state,omitempty"` // "on", "off", "block-all", or "" if unknown
}

// A BoltDevice is a Thunderbolt device as bolt, the authorisation daemon, lists it.
type BoltDevice struct {
	Name   string `json:"name"`
	Vendor string `json:"vendor,omitempty"`
	UUID   string `json:"uuid"`
	Type   string `json:"type,omitempty"`   // "peripheral", "host"
	Status string `json:"status,omitempty"` // "authorized", "connected", "disconnected", "auth-error"
	Policy string `json:"policy,omitempty"` // "auto", "manual", "iommu"
}
