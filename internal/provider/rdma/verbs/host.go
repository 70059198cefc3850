package verbs

import (
	"fmt"
	"strings"
	"syscall"
	"unsafe"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// Host is this machine's access to its RDMA devices, through the system's library.
type Host struct{ lib *library }

// NewHost loads the library. It returns a *MissingError on a system without one.
func NewHost() (*Host, error) {
	lib, err := load(libraryNames)
	if err != nil {
		return nil, err
	}
	return &Host{lib}, nil
}

// Devices implements hca.Host.
func (h *Host) Devices() ([]string, error) {
	var names []string
	err := h.list(func(dev uintptr, name string) error {
		names = append(names, name)
		return nil
	})
	return names, err
}

// list calls f for each device, while the list is held.
func (h *Host) list(f func(dev uintptr, name string) error) error {
	page, err := newPage()
	if err != nil {
		return err
	}
	defer page.free()
	n := carve[int32](&page)
	devs, errno := h.lib.getDeviceList.call(ptr(n))
	if devs == 0 {
		if errno == syscall.ENOSYS {
			return nil // the kernel has no RDMA subsystem loaded
		}
		return &Error{Verb: "ibv_get_device_list", Errno: errno}
	}
	defer h.lib.freeDeviceList.call(devs)
	for i := range uintptr(*n) {
		dev := *at[uintptr](devs + i*unsafe.Sizeof(devs))
		name, _ := h.lib.getDeviceName.call(dev)
		if err := f(dev, cString(name)); err != nil {
			return err
		}
	}
	return nil
}

// Open implements hca.Host.
func (h *Host) Open(name string) (hca.Device, error) {
	var d *Device
	var names []string
	err := h.list(func(dev uintptr, n string) error {
		names = append(names, n)
		if n != name || d != nil {
			return nil
		}
		ctx, err := h.lib.openDevice.object(dev)
		if err != nil {
			return fmt.Errorf("opening RDMA device %s: %w", name, err)
		}
		d, err = newDevice(h.lib, name, ctx)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case d == nil && len(names) == 0:
		return nil, fmt.Errorf("RDMA device %s: this machine has no RDMA device", name)
	case d == nil:
		return nil, fmt.Errorf("RDMA device %s does not exist; there is %s", name, strings.Join(names, ", "))
	}
	return d, nil
}

// Map implements hca.Host.
func (*Host) Map(n int) ([]byte, error) {
	mem, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes: %w", n, err)
	}
	return mem, nil
}

// Unmap implements hca.Host.
func (*Host) Unmap(mem []byte) error { return syscall.Munmap(mem) }

// page is a page of mapped memory for what is passed to the library.
type page struct {
	mem  []byte
	used uintptr
}

func newPage() (page, error) {
	mem, err := (*Host)(nil).Map(syscall.Getpagesize())
	return page{mem: mem}, err
}

func (p *page) free() { syscall.Munmap(p.mem) }

// carve allocates a T in the page. There is no check, since all uses need far less than
// a page.
func carve[T any](p *page) *T {
	var zero T
	const align = 16
	at := p.used
	p.used += (unsafe.Sizeof(zero) + align - 1) &^ (align - 1)
	return (*T)(unsafe.Pointer(&p.mem[at:p.used][0]))
}

// ptr returns the address of something carved from a page.
func ptr[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
