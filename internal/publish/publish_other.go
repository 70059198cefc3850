//go:build !amd64 || race

package publish

import (
	"sync/atomic"
	"unsafe"
)

// Word stores v in *p, after everything that was stored before it.
func Word(p *atomic.Uint64, v uint64) { p.Store(v) }

// Write replaces the line. The first word must not be 0.
func (l *Line) Write(words *[8]uint64) {
	l[0].Store(0)
	for i := 1; i < len(l); i++ {
		l[i].Store(words[i])
	}
	l[0].Store(words[0])
}

// Prepare fetches the cache lines of n bytes at p, which will be written soon, so that
// the stores do not wait for them.
func Prepare(unsafe.Pointer, int) {}

// Prefetch fetches the cache line at p, which will be read soon.
func Prefetch(unsafe.Pointer) {}

// Add adds d to *p, in no order with respect to other stores. Only one thread at a time
// adds to *p.
func Add(p *atomic.Uint64, d uint64) { p.Store(p.Load() + d) }
