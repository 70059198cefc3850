package rdma

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// A region is memory of Alloc, known to every device of the fabric.
type region struct {
	mem []byte
	mrs [][]hca.MR // by device; several where the device limits their size
	len []int      // of each of a device's
}

// on is the registration of b, a part of the region, on a device; nil if b crosses
// the border of two.
func (g *region) on(d *device, b []byte) hca.MR {
	off := int(address(b) - address(g.mem))
	size := g.len[d.num]
	if off/size != (off+len(b)-1)/size {
		return nil
	}
	return g.mrs[d.num][off/size]
}

// find returns the region that b lies in; nil if there is none.
func (f *Fabric) find(b []byte) *region {
	all := f.regions.Load()
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

// Alloc implements fabric.Allocator. Each call registers memory anew: a few large
// buffers are what it is for, not many small ones.
func (f *Fabric) Alloc(n int) ([]byte, error) {
	if n <= 0 {
		return nil, fmt.Errorf("rdma: allocating %d bytes: ask for at least one", n)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, errClosed
	}
	if len(f.devices) == 0 {
		return make([]byte, n), nil // all links are the boot fabric's
	}
	const page = 16 << 10 // of any system this runs on
	mem, err := f.cfg.Host.Map((n + page - 1) &^ (page - 1))
	if err != nil {
		return nil, fmt.Errorf("rdma: allocating %d bytes: %w", n, err)
	}
	g := &region{mem: mem, mrs: make([][]hca.MR, len(f.devices)), len: make([]int, len(f.devices))}
	for i, d := range f.devices {
		g.len[i] = int(min(int64(len(mem)), max(d.lim.MaxMRSize, page)))
		for rest := mem; len(rest) > 0; {
			part := rest[:min(len(rest), g.len[i])]
			mr, err := d.register(&f.books, part)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("rdma: allocating %d bytes: %w", n, err), f.drop(g))
			}
			g.mrs[i] = append(g.mrs[i], mr)
			rest = rest[len(part):]
		}
	}
	f.setRegions(func(all []*region) []*region {
		i, _ := slices.BinarySearchFunc(all, g, byAddress)
		return slices.Insert(all, i, g)
	})
	return mem[:n:n], nil
}

func byAddress(a, b *region) int { return cmp.Compare(address(a.mem), address(b.mem)) }

// setRegions replaces the list, which is read without a lock.
func (f *Fabric) setRegions(edit func([]*region) []*region) {
	var all []*region
	if p := f.regions.Load(); p != nil {
		all = slices.Clone(*p)
	}
	all = edit(all)
	f.regions.Store(&all)
}

// Free implements fabric.Allocator.
func (f *Fabric) Free(b []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.devices) == 0 {
		return nil
	}
	g := f.find(b)
	if g == nil || address(g.mem) != address(b) {
		return errors.New("rdma: freeing memory that Alloc did not return")
	}
	f.setRegions(func(all []*region) []*region {
		return slices.DeleteFunc(all, func(h *region) bool { return h == g })
	})
	return f.drop(g)
}

// drop releases a region.
func (f *Fabric) drop(g *region) error {
	var first error
	for _, mrs := range g.mrs {
		for _, mr := range mrs {
			release(&f.books.mrs, mr, &first)
		}
	}
	if err := f.cfg.Host.Unmap(g.mem); first == nil {
		first = err
	}
	return first
}
