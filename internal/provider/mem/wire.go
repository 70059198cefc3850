package mem

import (
	"sync"

	"thundercollective/fabric"
)

const (
	// maxCopies is how many messages a wire holds copies of.
	maxCopies = 16
	// maxCopied is the length of the longest message that is copied.
	maxCopied = 4096
)

// A message is in a wire.
type message struct {
	tag fabric.Tag
	buf []byte // a copy, or the sender's own buffer
}

// A wire is a one-way queue with one sender and one receiver.
type wire struct {
	mu    sync.Mutex
	queue []message // a ring; message number i is at i modulo its length
	// Message numbers: [head, tail) are in the queue, of which [borrowed, tail) are in
	// the sender's own buffers.
	head, tail, borrowed uint64
	reading              bool // the receiver is at message head
	withdrawn            bool // the sender has given up; what it has lent is gone

	copies  [maxCopies][maxCopied]byte
	sent    chan struct{} // wakes the receiver
	taken   chan struct{} // wakes the sender
	cutOnce sync.Once
	isCut   chan struct{} // closed when either end is gone
}

func newWire() *wire {
	return &wire{
		queue: make([]message, 2*maxCopies),
		sent:  make(chan struct{}, 1),
		taken: make(chan struct{}, 1),
		isCut: make(chan struct{}),
	}
}

func (w *wire) cut() { w.cutOnce.Do(func() { close(w.isCut) }) }

// put queues a message, unless the sender has given up. It reports whether b may be
// reused.
func (w *wire) put(tag *fabric.Tag, b []byte) (copied, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.withdrawn {
		return false, false
	}
	n := uint64(len(w.queue))
	if w.tail-w.head == n {
		w.grow()
		n *= 2
	}
	copied = w.lent() == 0 && len(b) <= maxCopied && w.tail-w.head < maxCopies
	if copied {
		w.borrowed = w.tail + 1
		c := &w.copies[w.tail%maxCopies]
		b = c[:copy(c[:], b)]
	}
	w.queue[w.tail%n] = message{*tag, b}
	w.tail++
	wake(w.sent)
	return copied, true
}

// grow doubles the ring.
func (w *wire) grow() {
	ring := make([]message, 2*len(w.queue))
	for i := w.head; i < w.tail; i++ {
		ring[i%uint64(len(ring))] = w.queue[i%uint64(len(w.queue))]
	}
	w.queue = ring
}

// lent counts the messages that are in the sender's own buffers.
func (w *wire) lent() int { return int(w.tail - max(w.head, w.borrowed)) }

// outstanding is lent for the sender, who does not hold mu.
func (w *wire) outstanding() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lent()
}

// withdraw takes back what the sender has lent, and reports whether that is all: not if
// the receiver is reading one of the buffers.
func (w *wire) withdraw() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := max(w.head, w.borrowed)
	reading := w.reading && first == w.head && w.lent() > 0
	if reading {
		first++
	}
	for i := first; i < w.tail; i++ {
		w.queue[i%uint64(len(w.queue))] = message{}
	}
	w.tail, w.withdrawn = first, true
	return !reading
}

// next returns the oldest message, if there is one. The receiver then reads it, until
// release.
func (w *wire) next() (m message, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.head == w.tail {
		return m, false
	}
	w.reading = true
	return w.queue[w.head%uint64(len(w.queue))], true
}

// release ends the reading of the message that next returned.
func (w *wire) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue[w.head%uint64(len(w.queue))] = message{}
	w.reading = false
	w.head++
	wake(w.taken)
}

// wake leaves a token for the one goroutine that waits on c, or will.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
