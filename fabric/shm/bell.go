package shm

import (
	"sync/atomic"
	"unsafe"

	"thundercollective/fabric"
)

// A bell is what a rank sleeps on. It lies in the rank's home segment, which its
// peers have mapped.
type bell struct {
	rings    atomic.Uint32 // the futex
	sleepers atomic.Uint32
	_        [120]byte // no two bells share a cache line, or a pair of them
}

// bells is how many bells a rank has. Channels share them: waking somebody for
// nothing is harmless.
const bells = 32

// homeSize is the length of the home segment's body.
const homeSize = bells * int(unsafe.Sizeof(bell{}))

// wake wakes the rank if it sleeps. Whatever it may be waiting for has been
// written before, with an atomic store: either we see the sleeper here, or it sees
// what was written before it sleeps. What was only published may still be on its way
// when we look: then it sees it when it looks up again, which it does soon.
func (b *bell) wake() {
	if b.sleepers.Load() != 0 {
		b.ring()
	}
}

// ring wakes whoever sleeps or is about to.
func (b *bell) ring() {
	b.rings.Add(1)
	futexWake(&b.rings)
}

// bellOf returns the bell of a channel in a home segment.
func bellOf(home *segment, ch fabric.Channel) *bell {
	i := uint32(ch) * 2654435761 >> 27 // Knuth's multiplicative hash: the upper 5 bits
	return (*bell)(unsafe.Pointer(&home.body()[uintptr(i)*unsafe.Sizeof(bell{})]))
}
