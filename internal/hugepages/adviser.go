// Package hugepages requests huge pages for long buffers that a program uses repeatedly.
//
// When one process reads the memory of another, the kernel pins it page by page, and the
// processor's TLB covers few pages: with pages of 2 MiB, ranks read a block of 16 MiB a
// third faster, and sockets copy it faster, too. On most systems programs get huge pages
// only on request, and the buffers of a collective come from an allocator that does not
// request them.
//
// The request changes only the speed of accesses: the kernel copies the contents to huge
// pages once (MADV_COLLAPSE, Linux 6.1), which takes about a millisecond per page. Only
// huge pages that lie completely within a buffer are requested, so no additional memory is
// used. Nothing is requested where the system has huge pages disabled.
package hugepages

import "sync"

const (
	// Min is the length of the shortest buffer that is considered. It contains a huge
	// page at any alignment.
	Min = 4 << 20
	// pageSize is the size of a huge page.
	pageSize = 2 << 20
	// enough is the number of uses after which a buffer is expected to be used again:
	// moving it takes as long as a few operations on it.
	enough = 3
	// remembered is the number of buffers that are tracked.
	remembered = 64
)

// An Adviser tracks the buffers that a program uses. The zero value is ready. It is safe
// for concurrent use.
type Adviser struct {
	// Off disables requests. It must be set before the first use.
	Off bool

	mu    sync.Mutex
	known [remembered]buffer
	next  int // index of the buffer to replace next
}

// A buffer is the part of a buffer that consists of whole huge pages.
type buffer struct {
	from, to uintptr
	uses     int
}

// Used records a use of b, and requests huge pages for it after a few uses.
func (a *Adviser) Used(b []byte) {
	if len(b) < Min || a.Off {
		return
	}
	if from, to := within(b); a.again(from, to) {
		ask(b)
	}
}

// again counts a use, and reports whether it is the one after which to request huge pages.
func (a *Adviser) again(from, to uintptr) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.known {
		k := &a.known[i]
		if from >= k.from && to <= k.to {
			k.uses++
			return k.uses == enough
		}
	}
	a.known[a.next] = buffer{from, to, 1}
	a.next = (a.next + 1) % remembered
	return false
}
