package collective

const (
	// pairLead is how many windows of a ring of two are sent before the first has to
	// have come back. It is too few to keep a network busy.
	pairLead = 2
	// pairWindows is the most windows there are, which keeps schedules small.
	pairWindows = 16 * maxSegments
)

// pairs reports whether two ranks of one host have a ring of their own.
func (b *builder) pairs() bool {
	return b.Size == 2 && b.Hosts != nil && b.Hosts.Count() == 1 && b.Count/2 <= pairWindows*b.pairWindow()
}

// pairWindow is the length of the windows of a ring of two, that of a segment.
func (b *builder) pairWindow() int {
	if b.Segment > 0 {
		return b.Segment
	}
	return max(1, b.Window/(windowBytes/DefaultSegment))
}

// pairAllReduce is the ring of two ranks of one host. Each adds up one half and sends the
// sums back. It does so window by window: a window of sums follows the one of summands that is
// pairLead further on, so it leaves while it is still in the cache of the processor that
// has just added it up. Were all summands sent first, it would have to come from memory.
func pairAllReduce(b *builder, l *lane) {
	peer, halves := b.mod(b.Rank+1), evenly(b.Count, 2)
	mine, theirs := halves[b.Rank], halves[peer]
	w := b.pairWindow()
	n := span{0, longest(halves)}.windows(w)
	send := func(half span, k int, from func(span) Slice) {
		if s := half.window(k, w); s.n > 0 {
			l.send(peer, from(s))
		}
	}
	sums := func(s span) Slice { return s.in(Main) }
	for k := range min(pairLead, n) {
		send(theirs, k, b.from)
	}
	for k := range n + pairLead {
		if s := mine.window(k, w); s.n > 0 {
			l.recvBefore(peer, s.in(Main), b.from(s), true)
		}
		send(theirs, k+pairLead, b.from)
		send(mine, k, sums)
		if s := theirs.window(k-pairLead, w); k >= pairLead && s.n > 0 {
			l.recv(peer, s.in(Main))
		}
	}
}
