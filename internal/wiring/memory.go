package wiring

import (
	"fmt"
	"syscall"

	"thundercollective/fabric"
	"thundercollective/internal/hugepages"
)

// Alloc returns n bytes, zeroed, outside the Go heap and page-aligned: memory of the
// fabric where it has its own, which then moves without a copy at this end, else in
// huge pages if the system gives them to who asks, which sockets copy faster. Any
// other memory works too. Free it before the job is closed.
func Alloc(f fabric.Fabric, n int, noHugePages bool) ([]byte, error) {
	if n <= 0 {
		return nil, fmt.Errorf("thunder: alloc of %d bytes", n)
	}
	if a, ok := f.(fabric.Allocator); ok {
		return a.Alloc(n)
	}
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("thunder: alloc of %d bytes: %w", n, err)
	}
	if !noHugePages {
		hugepages.Fresh(b)
	}
	return b, nil
}

// Free gives back memory of Alloc, which must be passed as it was returned and not
// be in use by any operation.
func Free(f fabric.Fabric, b []byte) error {
	if a, ok := f.(fabric.Allocator); ok {
		return a.Free(b)
	}
	return syscall.Munmap(b)
}
