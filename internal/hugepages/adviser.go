// Package hugepages asks the kernel for huge pages under long buffers that a program
// works on again and again.
//
// A kernel that has to pin what one process reads of another does so page by page, and
// processors remember where few pages lie: of a block of 16 MiB, ranks read a third more
// in the same time if it is made of pages of 2 MiB, and sockets copy such a block faster.
// Programs get those only if they ask, on most systems, and the buffers of a collective
// come from an allocator that does not.
//
// Asking changes nothing but the time that accesses take: the kernel moves what is there
// (MADV_COLLAPSE, Linux 6.1), once, which takes it about a millisecond a page. Only whole
// huge pages within a buffer are asked for, so no memory is used beside it. Where the
// system has them switched off altogether, nothing is asked.
package hugepages

import "sync"

const (
	// Min is the shortest buffer that is looked at. It holds a huge page wherever it
	// begins.
	Min = 4 << 20
	// pageSize is that of a huge page.
	pageSize = 2 << 20
	// enough is how often a buffer is used before it is taken for one that is used again
	// and again: moving it takes as long as a few operations on it.
	enough = 3
	// remembered is how many buffers are known.
	remembered = 64
)

// An Adviser knows the buffers that a program uses. The zero Adviser knows none. It is safe
// for concurrent use.
type Adviser struct {
	// Off keeps it from asking for anything. It is set before the first use.
	Off bool

	mu    sync.Mutex
	known [remembered]buffer
	next  int // which is forgotten for the next new one
}

// A buffer is the part of one that whole huge pages can hold.
type buffer struct {
	from, to uintptr
	uses     int
}

// Used notes that b is worked on, and asks for huge pages when that has happened a few
// times.
func (a *Adviser) Used(b []byte) {
	if len(b) < Min || a.Off {
		return
	}
	if from, to := within(b); a.again(from, to) {
		ask(b)
	}
}

// again counts a use, and says whether it is the one that shows that there will be more.
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
