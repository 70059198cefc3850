package mem

import (
	"sync"
	"sync/atomic"

	"thundercollective/fabric"
)

const (
	// slots is how many messages may wait in a wire.
	slots = 16
	// inline is the longest message that is copied into its slot.
	inline = 4096
)

// A slot's life: free → ready (sender) → taking (receiver) → free, or
// ready → withdrawn (sender gave up; the wire is then useless).
const (
	free int32 = iota
	ready
	taking
	withdrawn
)

// A slot holds one message, or the reference to a long one.
type slot struct {
	state atomic.Int32
	tag   fabric.Tag
	ref   []byte // the payload: a part of small, or the sender's own buffer
	small [inline]byte
}

// A wire is a one-way queue with one sender and one receiver.
type wire struct {
	slots      [slots]slot
	head, tail atomic.Uint64 // next slot to receive from; next slot to send in
	sent       chan struct{} // wakes the receiver
	taken      chan struct{} // wakes the sender
	cutOnce    sync.Once
	isCut      chan struct{} // closed when either end is gone
}

func newWire() *wire {
	return &wire{
		sent:  make(chan struct{}, 1),
		taken: make(chan struct{}, 1),
		isCut: make(chan struct{}),
	}
}

func (w *wire) cut() { w.cutOnce.Do(func() { close(w.isCut) }) }

// put offers a message without blocking; it returns the slot used, or nil when
// the queue is full.
func (w *wire) put(tag *fabric.Tag, b []byte) *slot {
	t := w.tail.Load()
	if t-w.head.Load() == slots {
		return nil
	}
	s := &w.slots[t%slots]
	s.tag = *tag
	if len(b) <= inline {
		s.ref = s.small[:copy(s.small[:], b)]
	} else {
		s.ref = b
	}
	s.state.Store(ready)
	w.tail.Store(t + 1)
	wake(w.sent)
	return s
}

// next claims the oldest message; nil when there is none, or it was withdrawn.
func (w *wire) next() *slot {
	h := w.head.Load()
	if h == w.tail.Load() {
		return nil
	}
	s := &w.slots[h%slots]
	if !s.state.CompareAndSwap(ready, taking) {
		return nil
	}
	return s
}

// release gives the slot that next returned back to the sender.
func (w *wire) release(s *slot) {
	s.ref = nil
	s.state.Store(free)
	w.head.Add(1)
	wake(w.taken)
}

// wake leaves a token for the one goroutine that waits on c, or will.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
