package collective

// A span is a range of the vector that a collective works on.
type span struct{ off, n int }

// in returns the span as a slice of buf.
func (s span) in(buf Buffer) Slice { return Slice{buf, s.off, s.n} }

// part returns part k of n parts of s whose lengths differ by at most one.
func (s span) part(k, n int) span {
	q, r := s.n/n, s.n%n
	p := span{s.off + k*q + min(k, r), q}
	if k < r {
		p.n++
	}
	return p
}

// window returns window k of s cut into windows of w elements, empty beyond the
// end.
func (s span) window(k, w int) span {
	from := min(k*w, s.n)
	to := min(from+w, s.n)
	return span{s.off + from, to - from}
}

// windows returns how many windows of w elements cover s: at least one, so that
// a message of no elements is still a message.
func (s span) windows(w int) int {
	return max(1, (s.n+w-1)/w)
}

// evenly divides count elements into n blocks whose lengths differ by at most
// one.
func evenly(count, n int) []span {
	blocks := make([]span, n)
	for i := range blocks {
		blocks[i] = span{0, count}.part(i, n)
	}
	return blocks
}

// behind lays out blocks of the given lengths one behind the other.
func behind(counts []int) []span {
	blocks := make([]span, len(counts))
	off := 0
	for i, n := range counts {
		blocks[i] = span{off, n}
		off += n
	}
	return blocks
}

// blocks returns the block of each rank for the operations that have blocks.
func (s *Spec) blocks() []span {
	if s.Counts != nil {
		return behind(s.Counts)
	}
	return evenly(s.Count*s.Size, s.Size)
}

func total(blocks []span) int {
	n := 0
	for _, b := range blocks {
		n += b.n
	}
	return n
}

func longest(blocks []span) int {
	n := 0
	for _, b := range blocks {
		n = max(n, b.n)
	}
	return n
}
