package hugepages

import (
	"bytes"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setting contains the system's setting in brackets.
const setting = "/sys/kernel/mm/transparent_hugepage/enabled"

// within returns the part of b that consists of whole huge pages.
func within(b []byte) (from, to uintptr) {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return (at + pageSize - 1) &^ (pageSize - 1), (at + uintptr(len(b))) &^ (pageSize - 1)
}

// ask requests huge pages for b. It ignores failures: memory may be short, or of a kind
// that has no huge pages.
func ask(b []byte) {
	if s, err := os.ReadFile(setting); err == nil && !bytes.Contains(s, []byte("[never]")) {
		_ = collapse(b)
	}
}

// Fresh requests huge pages for memory that has not been touched yet. The system uses
// small ones if it has no huge pages on request.
func Fresh(b []byte) {
	if len(b) >= pageSize {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}

// collapse moves the contents of b to huge pages.
func collapse(b []byte) error {
	from, to := within(b)
	start := from - uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return unix.Madvise(b[start:][:to-from], unix.MADV_COLLAPSE)
}
