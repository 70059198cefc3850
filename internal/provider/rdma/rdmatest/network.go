package rdmatest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// Options describe the devices of a network. All hosts have the same.
type Options struct {
	hca.Limits
	// Devices is the number of devices of each host, named emu0, emu1 and so
	// on; 1 if 0, none if negative. Devices of the same number are joined to each other only.
	Devices int
	// NoEvents makes completion queues ones that can only be polled.
	NoEvents bool
	// LockLimit bounds the bytes that a host may have registered; none if 0.
	LockLimit int64
	// PortDown and NoIPv4 make the port unusable.
	PortDown, NoIPv4 bool
	// Noise decides what happens to a message on its way, on unreliable queue
	// pairs. It is called from several goroutines.
	Noise func(Message) Damage
}

// A Message is one that is on its way.
type Message struct {
	From, To int // hosts
	Device   int
	Len      int
}

// Damage is what happens to a message. The zero value is none.
type Damage struct {
	Drop bool
	Flip int // the bit to invert, counted from 1; none if 0
}

// RoCE is a device with reliable queue pairs.
func RoCE() Options {
	return Options{Limits: hca.Limits{
		RC: true, MaxQP: 1000, MaxQPWR: 4096, MaxSGE: 4, MaxCQE: 1 << 16, MaxMR: 1000,
		MaxMRSize: 1 << 40, MaxMessage: 1 << 30, HopLimit: 64,
	}}
}

// Thunderbolt is a device as RDMA over Thunderbolt has it.
func Thunderbolt() Options {
	return Options{Limits: hca.Limits{
		MaxQP: 10, MaxQPWR: 4096, MaxSGE: 1, MaxCQE: 1 << 16, MaxMR: 100,
		MaxMRSize: 1 << 30, MaxMessage: 16_773_120, FrameSize: 4096, HopLimit: 1,
	}}
}

// Lossy returns a Noise that drops and corrupts a share of the messages, decided
// by the seed.
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

// A Network joins emulated hosts.
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

// Faults lists what was done to the devices that real ones do not forgive.
func (n *Network) Faults() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.faults)
}

// Live counts the objects that were made and not released, by kind; it is empty
// when all are gone.
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

// lookup finds the queue pair at an address; nil if it is gone.
func (n *Network) lookup(a address) *qp {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.qps[a]
}
