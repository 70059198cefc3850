package rdma

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// A region is memory of Alloc or Register, registered with every device of the fabric.
type region struct {
	mem []byte
	own bool       // of Alloc: it is unmapped in the end
	mrs [][]hca.MR // by device; several where the device limits their size
	len []int      // by device: the size of each registration
}

// on returns the registration of b, a part of the region, with a device; nil if b spans
// two of them.
func (g *region) on(d *device, b []byte) hca.MR {
	off := int(address(b) - address(g.mem))
	size := g.len[d.num]
	if off/size != (off+len(b)-1)/size {
		return nil
	}
	return g.mrs[d.num][off/size]
}

// memory holds the regions. Fabric.mu guards changes; the list is read without
// a lock.
type memory struct {
	cfg       *Config
	books     *ledger
	inventory *inventory
	regions   atomic.Pointer[[]*region] // by address
}

// find returns the region that contains b; nil if there is none.
func (m *memory) find(b []byte) *region {
	all := m.regions.Load()
	if all == nil || len(b) == 0 {
		return nil
	}
	at := address(b)
	i, found := slices.BinarySearchFunc(*all, at, func(g *region, at uint64) int { return cmp.Compare(address(g.mem), at) })
	if !found {
		i--
	}
	if i < 0 {
		return nil
	}
	if g := (*all)[i]; at+uint64(len(b)) <= address(g.mem)+uint64(len(g.mem)) {
		return g
	}
	return nil
}

// alloc returns n bytes of memory that is registered with every device.
func (m *memory) alloc(n int) ([]byte, error) {
	const page = 16 << 10 // a multiple of the page size of every supported system
	mem, err := m.cfg.Host.Map((n + page - 1) &^ (page - 1))
	if err != nil {
		return nil, fmt.Errorf("rdma: allocating %d bytes: %w", n, err)
	}
	if err := m.add(&region{mem: mem, own: true}); err != nil {
		return nil, fmt.Errorf("rdma: allocating %d bytes: %w", n, err)
	}
	return mem[:n:n], nil
}

// register registers memory that was allocated elsewhere with every device.
func (m *memory) register(b []byte) error {
	if len(b) == 0 || len(m.inventory.devices) == 0 {
		return nil
	}
	if err := m.add(&region{mem: b}); err != nil {
		return fmt.Errorf("rdma: registering %d bytes: %w", len(b), err)
	}
	return nil
}

// add registers a region with every device. It drops the region if that fails.
func (m *memory) add(g *region) error {
	const least = 16 << 10 // bytes that every device registers at once
	if m.overlaps(g) {
		return errors.New("a part of it is registered already")
	}
	devices := m.inventory.devices
	g.mrs, g.len = make([][]hca.MR, len(devices)), make([]int, len(devices))
	for i, d := range devices {
		g.len[i] = int(min(int64(len(g.mem)), max(d.lim.MaxMRSize, least)))
		for rest := g.mem; len(rest) > 0; {
			part := rest[:min(len(rest), g.len[i])]
			mr, err := d.register(m.books, part)
			if err != nil {
				return errors.Join(err, m.drop(g))
			}
			g.mrs[i] = append(g.mrs[i], mr)
			rest = rest[len(part):]
		}
	}
	m.set(func(all []*region) []*region {
		i, _ := slices.BinarySearchFunc(all, g, byAddress)
		return slices.Insert(all, i, g)
	})
	return nil
}

// overlaps reports whether a part of a region belongs to another one.
func (m *memory) overlaps(g *region) bool {
	all := m.regions.Load()
	return all != nil && slices.ContainsFunc(*all, func(h *region) bool {
		return address(g.mem) < address(h.mem)+uint64(len(h.mem)) && address(h.mem) < address(g.mem)+uint64(len(g.mem))
	})
}

func byAddress(a, b *region) int { return cmp.Compare(address(a.mem), address(b.mem)) }

// set replaces the list with an edited copy.
func (m *memory) set(edit func([]*region) []*region) {
	var all []*region
	if p := m.regions.Load(); p != nil {
		all = slices.Clone(*p)
	}
	all = edit(all)
	m.regions.Store(&all)
}

// free releases memory of alloc.
func (m *memory) free(b []byte) error {
	g := m.remove(b, true)
	if g == nil {
		return errors.New("rdma: free of memory that Alloc did not return")
	}
	return m.drop(g)
}

// unregister ends the registration of memory that was allocated elsewhere.
func (m *memory) unregister(b []byte) error {
	if len(b) == 0 || len(m.inventory.devices) == 0 {
		return nil
	}
	g := m.remove(b, false)
	if g == nil {
		return errors.New("rdma: unregistering memory that is not registered")
	}
	return m.drop(g)
}

// remove takes the region that begins with b, of alloc or not, off the list; nil if there
// is none.
func (m *memory) remove(b []byte, own bool) *region {
	g := m.find(b)
	if g == nil || address(g.mem) != address(b) || g.own != own {
		return nil
	}
	m.set(func(all []*region) []*region {
		return slices.DeleteFunc(all, func(h *region) bool { return h == g })
	})
	return g
}

// drop releases a region.
func (m *memory) drop(g *region) error {
	var first error
	for _, mrs := range g.mrs {
		for _, mr := range mrs {
			release(&m.books.mrs, mr, &first)
		}
	}
	if !g.own {
		return first
	}
	if err := m.cfg.Host.Unmap(g.mem); first == nil {
		first = err
	}
	return first
}

// close releases all regions.
func (m *memory) close() error {
	all := m.regions.Load()
	if all == nil {
		return nil
	}
	var first error
	for _, g := range *all {
		if err := m.drop(g); first == nil {
			first = err
		}
	}
	return first
}
