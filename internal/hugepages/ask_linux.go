package hugepages

import (
	"bytes"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setting says in brackets what the system wants.
const setting = "/sys/kernel/mm/transparent_hugepage/enabled"

// within returns the part of b that whole huge pages can hold.
func within(b []byte) (from, to uintptr) {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return (at + pageSize - 1) &^ (pageSize - 1), (at + uintptr(len(b))) &^ (pageSize - 1)
}

// ask asks for huge pages under b. What it does not get it does without: memory may be
// short, or of a kind that has none.
func ask(b []byte) {
	if s, err := os.ReadFile(setting); err == nil && !bytes.Contains(s, []byte("[never]")) {
		_ = collapse(b)
	}
}

// Fresh asks for huge pages under memory that nobody has touched yet. A system that does
// not have them for everyone who asks goes on with small ones.
func Fresh(b []byte) {
	if len(b) >= pageSize {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}

// collapse has huge pages hold what is in b.
func collapse(b []byte) error {
	from, to := within(b)
	start := from - uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return unix.Madvise(b[start:][:to-from], unix.MADV_COLLAPSE)
}
