package rdma

import (
	"context"
	"errors"
	"fmt"

	"thundercollective/fabric"
)

// Alloc implements fabric.Fabric. Each call registers memory with every device: use it
// for a few large buffers, not for many small ones. Without devices, the memory is that of
// the boot fabric, which then has all links.
func (f *Fabric) Alloc(n int) ([]byte, error) {
	if n <= 0 {
		return nil, fmt.Errorf("rdma: cannot allocate %d bytes", n)
	}
	if len(f.inventory.devices) == 0 {
		return f.boot.Alloc(n)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return nil, errClosed
	}
	return f.memory.alloc(n)
}

// Free implements fabric.Fabric.
func (f *Fabric) Free(b []byte) error {
	if len(f.inventory.devices) == 0 {
		return f.boot.Free(b)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.memory.free(b)
}

// Register implements fabric.Fabric: it registers the memory with every device, and with
// the boot fabric, which may have some of the links.
func (f *Fabric) Register(b []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return errClosed
	}
	if err := f.memory.register(b); err != nil {
		return err
	}
	if err := f.boot.Register(b); err != nil {
		return errors.Join(err, f.memory.unregister(b))
	}
	return nil
}

// Unregister implements fabric.Fabric.
func (f *Fabric) Unregister(b []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return nil // Close has done it
	}
	return errors.Join(f.memory.unregister(b), f.boot.Unregister(b))
}

// Memory implements fabric.Fabric: devices share no memory.
func (f *Fabric) Memory(context.Context, fabric.Channel, []int) (fabric.Memory, error) {
	return nil, nil
}
