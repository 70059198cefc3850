//go:build !race

package publish

import (
	"sync/atomic"
	"unsafe"
)

// Word stores v in *p, after everything that was stored before.
//
//go:noescape
func Word(p *atomic.Uint64, v uint64)

// Write replaces the line. The first word must not be 0.
func (l *Line) Write(words *[8]uint64) { write(l, words) }

//go:noescape
func write(l *Line, words *[8]uint64)

// Prepare fetches the lines of n bytes at p, which will be written to soon, so that the
// stores find them there.
//
//go:noescape
func Prepare(p unsafe.Pointer, n int)

// Prefetch fetches the line at p, which will be read soon.
//
//go:noescape
func Prefetch(p unsafe.Pointer)

// Add adds d to *p, in no order.
func Add(p *atomic.Uint64, d uint64) { *(*uint64)(unsafe.Pointer(p)) += d }
