package probe

import "net/netip"

// SchemaVersion is written into every Machine, so that a report from another
// version of the program can be recognised.
const SchemaVersion = 1

// A Machine is what one machine says about itself. It holds facts, no verdicts.
type Machine struct {
	Schema  int    `json:"schema"`
	Host    string `json:"host"`            // as the user or the machine calls it
	SSH     string `json:"ssh,omitempty"`   // how ssh reaches it, where that is known
	Model   string `json:"model,omitempty"` // "Mac15,14", "AMD Ryzen AI Max+ board"
	OS      OS     `json:"os"`
	CPU     CPU    `json:"cpu"`
	Memory  uint64 `json:"memory_bytes,omitempty"`
	GPUs    []GPU  `json:"gpus,omitempty"`
	Virtual string `json:"virtual,omitempty"` // name of the hypervisor, when this is a virtual machine

	Thunderbolt Thunderbolt  `json:"thunderbolt"`
	Interfaces  []Interface  `json:"interfaces,omitempty"`
	Routes      []Route      `json:"routes,omitempty"`
	Neighbours  []Neighbour  `json:"neighbours,omitempty"`
	PCI         []PCIDevice  `json:"pci,omitempty"` // network and RDMA cards, Thunderbolt controllers
	RDMA        RDMA         `json:"rdma"`
	Modules     []string     `json:"modules,omitempty"` // those that matter here, loaded
	IOMMU       string       `json:"iommu,omitempty"`   // Linux: "on", "off"
	Limits      Limits       `json:"limits"`
	Thermal     Thermal      `json:"thermal"`
	Power       Power        `json:"power"`
	Firewall    Firewall     `json:"firewall"`
	Tools       []string     `json:"tools,omitempty"` // helpers found: boltctl, ib_write_bw, ...
	Bolt        []BoltDevice `json:"bolt,omitempty"`

	Problems []Problem `json:"problems,omitempty"`

	// Lost says why the machine could not be asked at all; nothing else is known
	// of it then.
	Lost string `json:"lost,omitempty"`
}

// A Problem is something that should have been readable and was not.
type Problem struct {
	What string `json:"what"` // file or command
	Why  string `json:"why"`
}

func (p Problem) String() string { return "could not read " + p.What + ": " + p.Why }

// OS names the operating system.
type OS struct {
	Kind    string `json:"kind"`              // "linux" or "darwin"
	Name    string `json:"name,omitempty"`    // "Ubuntu 24.04.1 LTS", "macOS"
	Version string `json:"version,omitempty"` // "24.04", "26.2"
	Build   string `json:"build,omitempty"`   // macOS only, "25C56"
	Kernel  string `json:"kernel,omitempty"`
}

// CPU names the processor.
type CPU struct {
	Model string `json:"model,omitempty"`
	Cores int    `json:"cores,omitempty"` // as the operating system counts them
}

// A GPU is a graphics or compute device.
type GPU struct {
	Name  string `json:"name"`
	Cores int    `json:"cores,omitempty"`
}

// Thunderbolt is the Thunderbolt/USB4 side of a machine.
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
	Number    int     `json:"number"`           // printed on the case or counted from 1
	Name      string  `json:"name"`             // the operating system's name for it
	Domain    string  `json:"domain,omitempty"` // UUID of its domain, upper case
	Connected bool    `json:"connected"`
	Gbps      float64 `json:"gbps,omitempty"`     // negotiated, one direction; 0 when empty
	MaxGbps   float64 `json:"max_gbps,omitempty"` // what the port can do
	Lanes     int     `json:"lanes,omitempty"`
	Interface string  `json:"interface,omitempty"` // network interface of the port, where it has a fixed one
	Devices   []Node  `json:"devices,omitempty"`   // what is plugged in, a tree
}

// Kinds of Node.
const (
	KindDevice = "device" // hub, dock, enclosure, drive
	KindHost   = "host"   // another computer
)

// A Node is a device or another host in the tree that hangs on a Port.
type Node struct {
	Kind       string   `json:"kind"`
	Name       string   `json:"name,omitempty"`
	Vendor     string   `json:"vendor,omitempty"`
	UUID       string   `json:"uuid,omitempty"` // upper case; of a host: the identity of its domain
	Route      string   `json:"route,omitempty"`
	Generation string   `json:"generation,omitempty"` // "3", "4", "usb_four_v2" as the system says it
	Authorized *int     `json:"authorized,omitempty"` // Linux; 0 means: not allowed to tunnel PCIe
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

// IPv4 is the interface's first usable IPv4 address. Self-assigned addresses
// (169.254/16) do not count: the two ends agree on nothing then.
func (i *Interface) IPv4() (netip.Prefix, bool) {
	for _, a := range i.Addrs {
		if a.Addr().Is4() && !a.Addr().IsLinkLocalUnicast() {
			return a, true
		}
	}
	return netip.Prefix{}, false
}

// A Route is a destination this machine has a path to.
type Route struct {
	Dst       netip.Prefix `json:"dst"`
	Interface string       `json:"interface,omitempty"`
}

// A Neighbour is a machine that answered on an interface.
type Neighbour struct {
	Interface string     `json:"interface"`
	MAC       string     `json:"mac"`
	Addr      netip.Addr `json:"addr"`
}

// A PCIDevice is a card with its link, as it runs and as it could.
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
	Thunderbolt bool     `json:"thunderbolt,omitempty"` // reached through a Thunderbolt cable
	Interfaces  []string `json:"interfaces,omitempty"`
	RDMADevices []string `json:"rdma_devices,omitempty"`
}

// RDMA is what verbs could use.
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

// IPv4GID is the index of the first GID made from an IPv4 address, or -1. Both
// ends need one: connections by any other GID fail on Apple's stack.
func (p *RDMAPort) IPv4GID() int {
	for i, g := range p.GIDs {
		a, err := netip.ParseAddr(g)
		if err == nil && a.Is4In6() {
			return i
		}
	}
	return -1
}

// Limits are the operating system's bounds that decide speed.
type Limits struct {
	Memlock    uint64 `json:"memlock_bytes"` // 0 when unknown
	NoMemlock  bool   `json:"memlock_unlimited,omitempty"`
	SocketRead uint64 `json:"socket_read_max,omitempty"` // largest receive buffer a program may ask for
	SocketSend uint64 `json:"socket_send_max,omitempty"`
	TCPRead    uint64 `json:"tcp_read_max,omitempty"` // largest the kernel grows to by itself
	TCPSend    uint64 `json:"tcp_send_max,omitempty"`
}

// Thermal is how hot the machine runs.
type Thermal struct {
	Known     bool     `json:"known,omitempty"` // the system could be asked
	Sensors   []Sensor `json:"sensors,omitempty"`
	Throttled bool     `json:"throttled,omitempty"`
	Note      string   `json:"note,omitempty"`
}

// A Sensor is one temperature.
type Sensor struct {
	Name     string  `json:"name"`
	Celsius  float64 `json:"celsius"`
	Critical float64 `json:"critical,omitempty"`
}

// Power says whether the machine would go to sleep under a job.
type Power struct {
	SleepMinutes *int `json:"sleep_minutes,omitempty"` // 0: never
}

// Firewall says whether connections from other machines are filtered.
type Firewall struct {
	State string `json:"state,omitempty"` // "on", "off", "block-all", "" unknown
}

// A BoltDevice is a Thunderbolt device as bolt, the authorisation daemon, sees it.
type BoltDevice struct {
	Name   string `json:"name"`
	Vendor string `json:"vendor,omitempty"`
	UUID   string `json:"uuid"`
	Type   string `json:"type,omitempty"`   // "peripheral", "host"
	Status string `json:"status,omitempty"` // "authorized", "connected", "disconnected", "auth-error"
	Policy string `json:"policy,omitempty"` // "auto", "manual", "iommu"
}
