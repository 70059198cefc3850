package rdmatest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// Options describe the devices of a network, which are the same on all hosts.
type Options struct {
	hca.Limits
	// Devices is the number of devices of each host, named emu0, emu1 and so on; 1 if
	// 0, none if negative. Only devices with the same number are connected.
	Devices int
	// NoEvents removes completion events: queues can only be polled.
	NoEvents bool
	// LockLimit is the limit on the bytes that a host has registered; none if 0.
	LockLimit int64
	// PortDown and NoIPv4 make the port unusable.
	PortDown, NoIPv4 bool
	// Noise decides what happens to a message under way on an unreliable queue
	// pair. It is called from several goroutines.
	Noise func(Message) Damage
}

// A Message is a message under way.
type Message struct {
	From, To int // hosts
	Device   int
	Len      int
}

// Damage is what happens to a message. The zero value leaves it intact.
type Damage struct {
	Drop bool
	Flip int // the bit to invert, counted from 1; none if 0
}

// RoCE returns the options for devices with reliable queue pairs.
func RoCE() Options {
	return Options{Limits: hca.Limits{
		RC: true, MaxQP: 1000, MaxQPWR: 4096, MaxSGE: 4, MaxCQE: 1 << 16, MaxMR: 1000,
		MaxMRSize: 1 << 40, MaxMessage: 1 << 30, HopLimit: 64,
	}}
}

// Thunderbolt returns the options for devices of RDMA over Thunderbolt.
func Thunderbolt() Options {
	return Options{Limits: hca.Limits{
		MaxQP: 10, MaxQPWR: 4096, MaxSGE: 1, MaxCQE: 1 << 16, MaxMR: 100,
		MaxMRSize: 1 << 30, MaxMessage: 16_773_120, FrameSize: 4096, HopLimit: 1,
	}}
}

// Lossy returns a Noise that drops and corrupts messages with the given probabilities,
// determined by the seed.
func Lossy(seed uint64, drop, flip float64) func(Message) Damage {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 7))
	return func(m Message) Damage {
		mu.Lock()
		defer mu.Unlock()
		d := Damage{Drop: rng.Float64() < drop}
		if bit := 1 + rng.IntN(max(1, 8*m.Len)); rng.Float64() < flip && m.Len > 0 {
			d.Flip = bit
		}
		return d
	}
}

// A Network connects emulated hosts.
type Network struct {
	opt Options

	mu     sync.Mutex
	hosts  map[int]*Host
	qps    map[address]*qp
	qpn    uint32
	keys   uint32
	live   map[string]int // objects that exist, by kind
	faults []string
}

// address is where a queue pair can be reached.
type address struct {
	gid [16]byte
	qpn uint32
}

// NewNetwork returns a network without hosts.
func NewNetwork(o Options) *Network {
	switch {
	case o.Devices == 0:
		o.Devices = 1
	case o.Devices < 0:
		o.Devices = 0
	}
	return &Network{opt: o, hosts: map[int]*Host{}, qps: map[address]*qp{}, qpn: 16, live: map[string]int{}}
}

// Host returns host number i, from 0 to 250.
func (n *Network) Host(i int) *Host {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.hosts[i]
	if h == nil {
		h = &Host{net: n, num: i}
		n.hosts[i] = h
	}
	return h
}

// Faults lists the misuse of devices that was recorded.
func (n *Network) Faults() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.faults)
}

// Live returns the number of objects that were not released, by kind; it is empty if
// all were.
func (n *Network) Live() map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	live := map[string]int{}
	for k, v := range n.live {
		if v != 0 {
			live[k] = v
		}
	}
	return live
}

// note records a fault.
func (n *Network) note(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.faults) < 100 {
		n.faults = append(n.faults, fmt.Sprintf(format, args...))
	}
}

// count adds to the number of objects of a kind.
func (n *Network) count(kind string, by int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.live[kind] += by
}

// lookup returns the queue pair at an address; nil if there is none.
func (n *Network) lookup(a address) *qp {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.qps[a]
}
