package rdmatest

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"thundercollective/internal/provider/rdma/internal/hca"
)

const pageSize = 4096

// A Host is one machine of a Network. It replaces the system's library in package rdma.
type Host struct {
	net *Network
	num int

	mu     sync.Mutex
	locked int64 // bytes registered
	dead   bool
}

// Kill disconnects the host, as a power failure would.
func (h *Host) Kill() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dead = true
}

func (h *Host) isDead() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.dead
}

// Devices implements hca.Host.
func (h *Host) Devices() ([]string, error) {
	var names []string
	for i := range h.net.opt.Devices {
		names = append(names, fmt.Sprintf("emu%d", i))
	}
	return names, nil
}

// Open implements hca.Host.
func (h *Host) Open(name string) (hca.Device, error) {
	names, _ := h.Devices()
	for i, n := range names {
		if n == name {
			h.net.count("device", 1)
			return &device{host: h, net: h.net, num: i, mrs: map[uint32]*mr{}}, nil
		}
	}
	return nil, fmt.Errorf("RDMA device %s does not exist; there is %s", name, strings.Join(names, ", "))
}

// Map implements hca.Host. The memory is in the Go heap, so that the race detector checks
// accesses to it.
func (h *Host) Map(n int) ([]byte, error) {
	b := make([]byte, n+pageSize)
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (pageSize - 1)
	h.net.count("mapping", 1)
	return b[skip : skip+n : skip+n], nil
}

// Unmap implements hca.Host.
func (h *Host) Unmap([]byte) error {
	h.net.count("mapping", -1)
	return nil
}

// device is an hca.Device.
type device struct {
	host *Host
	net  *Network
	num  int

	mu    sync.Mutex
	mrs   map[uint32]*mr // by key
	nqp   int
	inUse int // objects that were not closed
}

func (d *device) Name() string       { return fmt.Sprintf("emu%d", d.num) }
func (d *device) Limits() hca.Limits { return d.net.opt.Limits }

// gid returns the address of the device: 10.90.device.host, IPv4-mapped.
func (d *device) gid() [16]byte {
	return [16]byte{10: 0xff, 11: 0xff, 12: 10, 13: 90, 14: byte(d.num), 15: byte(d.host.num + 1)}
}

// Port implements hca.Device.
func (d *device) Port(num int) (hca.Port, error) {
	if num != 1 {
		return hca.Port{}, syscall.EINVAL
	}
	if d.net.opt.PortDown {
		return hca.Port{State: "down", MTU: 1024, LinkLayer: hca.Ethernet}, nil
	}
	return hca.Port{Active: true, State: "active", MTU: 1024, LinkLayer: hca.Ethernet}, nil
}

// GIDs implements hca.Device.
func (d *device) GIDs(int) ([]hca.GID, error) {
	local := [16]byte{0: 0xfe, 1: 0x80, 15: byte(d.host.num + 1)}
	gids := []hca.GID{{Index: 0, Addr: local}}
	if !d.net.opt.NoIPv4 {
		gids = append(gids, hca.GID{Index: 1, Addr: d.gid(), RoCEv1: true}, hca.GID{Index: 2, Addr: d.gid()})
	}
	return gids, nil
}

// use counts an object of the device.
func (d *device) use(kind string, by int) {
	d.net.count(kind, by)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inUse += by
}

// NewPD implements hca.Device.
func (d *device) NewPD() (hca.PD, error) {
	d.use("PD", 1)
	return &pd{d}, nil
}

// Close implements hca.Device.
func (d *device) Close() error {
	d.mu.Lock()
	left := d.inUse
	d.mu.Unlock()
	if left != 0 {
		return fmt.Errorf("%d objects of the device are still in use: %w", left, syscall.EBUSY)
	}
	d.net.count("device", -1)
	return nil
}

type pd struct{ dev *device }

func (p *pd) Close() error {
	p.dev.use("PD", -1)
	return nil
}

// mr is an hca.MR.
type mr struct {
	dev *device
	mem []byte
	key uint32
}

// Register implements hca.PD.
func (p *pd) Register(mem []byte) (hca.MR, error) {
	d := p.dev
	base := uintptr(unsafe.Pointer(&mem[0]))
	if base%pageSize != 0 {
		d.net.note("memory region at %#x is not page-aligned", base)
		return nil, syscall.EINVAL
	}
	if int64(len(mem)) > d.net.opt.MaxMRSize {
		return nil, syscall.EINVAL
	}
	d.host.mu.Lock()
	defer d.host.mu.Unlock()
	if limit := d.net.opt.LockLimit; limit > 0 && d.host.locked+int64(len(mem)) > limit {
		return nil, syscall.ENOMEM
	}
	d.net.mu.Lock()
	d.net.keys++
	key := d.net.keys
	d.net.mu.Unlock()
	d.mu.Lock()
	if len(d.mrs) >= d.net.opt.MaxMR {
		d.mu.Unlock()
		return nil, syscall.ENOSPC
	}
	m := &mr{d, mem, key}
	d.mrs[key] = m
	d.mu.Unlock()
	d.host.locked += int64(len(mem))
	d.use("MR", 1)
	return m, nil
}

func (m *mr) LKey() uint32 { return m.key }
func (m *mr) RKey() uint32 { return m.key }

func (m *mr) Close() error {
	m.dev.host.mu.Lock()
	m.dev.host.locked -= int64(len(m.mem))
	m.dev.host.mu.Unlock()
	m.dev.mu.Lock()
	delete(m.dev.mrs, m.key)
	m.dev.mu.Unlock()
	m.dev.use("MR", -1)
	return nil
}

// memory returns registered memory; nil if any part of it is not registered.
func (d *device) memory(addr uint64, n int, key uint32) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.mrs[key]
	if m == nil {
		return nil
	}
	off := addr - uint64(uintptr(unsafe.Pointer(&m.mem[0])))
	if off > uint64(len(m.mem)) || uint64(n) > uint64(len(m.mem))-off {
		return nil
	}
	return m.mem[off : off+uint64(n)]
}
