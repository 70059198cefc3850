//go:build unix

package reduce

import (
	"syscall"
	"testing"
)

// fenced returns two pages between two that cannot be read: touching a byte
// outside kills the test.
func fenced(t *testing.T) []byte {
	page := syscall.Getpagesize()
	all, err := syscall.Mmap(-1, 0, 4*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatalf("mapping four pages: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(all); err != nil {
			t.Errorf("unmapping: %v", err)
		}
	})
	for _, fence := range [][]byte{all[:page], all[3*page:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatalf("protecting a page: %v", err)
		}
	}
	return all[page : 3*page]
}

func TestNothingReadOutside(t *testing.T) {
	a, b, dst := fenced(t), fenced(t), fenced(t)
	for _, table := range tables() {
		for _, dt := range DTypes() {
			for _, n := range lengths(dt.Size()) {
				n *= dt.Size()
				for _, from := range []int{0, len(a) - n} {
					to := from + n
					for _, k := range table.kernels[dt] {
						if k != nil {
							k(dst[from:to], a[from:to], b[from:to])
						}
					}
					if table.divide[dt] != nil {
						table.divide[dt](dst[from:to], a[from:to], 3)
					}
				}
			}
		}
	}
}
