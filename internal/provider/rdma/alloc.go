package rdma

import "fmt"

// Alloc implements fabric.Allocator. Each call registers memory with every device: use
// it for a few large buffers, not for many small ones.
func (f *Fabric) Alloc(n int) ([]byte, error) {
	if n <= 0 {
		return nil, fmt.Errorf("rdma: cannot allocate %d bytes", n)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, errClosed
	}
	return f.memory.alloc(n)
}

// Free implements fabric.Allocator.
func (f *Fabric) Free(b []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.memory.free(b)
}
