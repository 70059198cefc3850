package shm

import (
	"sync/atomic"
	"time"
	"unsafe"

	"thundercollective/fabric"
)

// A bell is what a rank sleeps on. It lies in the rank's home segment, which its
// peers have mapped.
type bell struct {
	rings    atomic.Uint32 // the futex
	sleepers atomic.Uint32
	knocks   atomic.Uint32 // 1 while a knock is on its way
	_        [116]byte     // no two bells share a cache line, or a pair of them
}

// bellCount is how many bells a rank has. Channels share them: waking somebody for
// nothing is harmless.
const bellCount = 32

// homeSize is the length of the home segment's body.
const homeSize = bellCount * int(unsafe.Sizeof(bell{}))

// bellNumber returns which bell a channel uses.
func bellNumber(ch fabric.Channel) int {
	return int(uint32(ch) * 2654435761 >> 27) // Knuth's multiplicative hash: the upper 5 bits
}

// bellOf returns a bell in a home segment.
func bellOf(home *segment, number int) *bell {
	return (*bell)(unsafe.Pointer(&home.body()[uintptr(number)*unsafe.Sizeof(bell{})]))
}

// A peerBell rings a peer's bell.
type peerBell struct {
	*bell
	number int
	// passage is through which to knock, where a process cannot wake those who sleep in
	// another; else nil.
	passage *passage
}

// wake wakes the peer if it sleeps. What it may be waiting for was written before, with
// an atomic store: either we see the sleeper here, or it sees what was written before it
// sleeps. What was only published (package publish) may not be visible yet: then the peer
// sees it when its first nap is over.
func (r *peerBell) wake() {
	if r.sleepers.Load() != 0 {
		r.ring()
	}
}

// ring wakes every goroutine that sleeps or is about to.
func (r *peerBell) ring() {
	r.rings.Add(1)
	switch {
	case r.passage == nil:
		futexWake(&r.rings)
	case r.knocks.CompareAndSwap(0, 1):
		// One knock on its way is enough: whom it wakes sees this ring, too. So the
		// passage is never full of them, and nobody waits here.
		r.passage.knock(r.number)
	}
}

// naps are the times after which a sleeper looks up although nobody has woken it. What
// was published while it lay down, without a fence, is there after the first one: it
// needs no longer than a line of memory takes from one core to another.
var naps = [...]time.Duration{100 * time.Microsecond, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second}

// An ownBell is where a rank sleeps until its bell rings.
type ownBell struct {
	*bell
	alarm *alarm // what wakes sleepers where there are no futexes; else nil
}

// ring wakes every goroutine that sleeps or is about to.
func (b *ownBell) ring() {
	b.rings.Add(1)
	if b.alarm == nil {
		futexWake(&b.rings)
	} else {
		b.alarm.wake()
	}
}

// sleep returns when the bell has rung since rings was read, or after the n-th nap in a
// row. It may return at any time.
func (b *ownBell) sleep(rings uint32, n int) {
	nap := naps[min(n, len(naps)-1)]
	if b.alarm == nil {
		futexWait(&b.rings, rings, nap)
	} else {
		b.alarm.wait(&b.rings, rings, nap)
	}
}

// knocked is called when a peer has knocked.
func (b *ownBell) knocked() {
	b.knocks.Store(0) // before waking: who rings from now on knocks again
	b.alarm.wake()
}
