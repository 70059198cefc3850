// Package sysmem is the memory of fabrics that have none of their own: pages of the
// system, in huge pages where it gives them to programs that ask, since those are copied
// to and from sockets faster.
package sysmem

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"unsafe"

	"thundercollective/fabric"
	"thundercollective/internal/hugepages"
)

// Pages do for a fabric what concerns memory: they are meant to be embedded. The zero
// Pages are ready to use.
type Pages struct {
	// NoHugePages keeps Alloc from asking for huge pages. It is set before the first use.
	NoHugePages bool

	mu  sync.Mutex
	own map[*byte]int // mapped length by address
}

// Alloc implements fabric.Fabric.
func (m *Pages) Alloc(n int) ([]byte, error) {
	if n <= 0 {
		return nil, fmt.Errorf("fabric: allocating %d bytes: ask for at least one", n)
	}
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("fabric: allocating %d bytes: %w", n, err)
	}
	if !m.NoHugePages {
		hugepages.Fresh(b)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.own == nil {
		m.own = map[*byte]int{}
	}
	m.own[unsafe.SliceData(b)] = len(b)
	return b, nil
}

// Free implements fabric.Fabric. It works after the fabric is closed, too.
func (m *Pages) Free(b []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := unsafe.SliceData(b)
	n, ok := m.own[at]
	if !ok || n != len(b) {
		return errors.New("fabric: freeing memory that Alloc did not return")
	}
	delete(m.own, at)
	return syscall.Munmap(b[:n:n])
}

// Register implements fabric.Fabric: all memory is as good as any other.
func (m *Pages) Register([]byte) error { return nil }

// Unregister implements fabric.Fabric.
func (m *Pages) Unregister([]byte) error { return nil }

// Memory implements fabric.Fabric: no ranks share memory.
func (m *Pages) Memory(context.Context, fabric.Channel, []int) (fabric.Memory, error) {
	return nil, nil
}
