package collective

const (
	// turnBytes is the length of the windows in which crowded ranks exchange blocks.
	turnBytes = 512 << 10
	// turnWindows is the most windows there are, which keeps schedules small.
	turnWindows = 16 * maxSegments
	// turnLead is how many messages are sent before the first is received.
	turnLead = 2
)

// pairwise is the all-to-all: in step i a rank sends to the rank i places on and
// receives from the one i places back, so that no rank is the target of two
// at once. One step is sent ahead.
//
// Ranks of one host that outnumber its processors do so window by window. Four ranks on
// two processors took an eighth less time for 16 and 64 MiB over TCP. The reason is not
// proven; less is under way at once than sockets accept of whole blocks. Where links have
// several streams, windows took longer, so other ranks of one host do without.
//
// What is sent in a turn waits for what is received turnLead turns before, in an earlier
// step or earlier in the same one. So there is always a rank that need not wait.
func pairwise(b *builder, l *lane) {
	out, in := b.blocks(), b.blocks()
	if b.RecvCounts != nil {
		in = behind(b.RecvCounts)
	}
	mine, own := out[b.Rank], in[b.Rank]
	type turn struct{ step, k int }
	var turns []turn
	for i := 1; i < b.Size; i++ {
		n := max(b.windowsOf(out[b.mod(b.Rank+i)]), b.windowsOf(in[b.mod(b.Rank-i)]))
		if i == 1 {
			n = max(n, b.windowsOf(own))
		}
		for k := range n {
			turns = append(turns, turn{i, k})
		}
	}
	send := func(t turn) {
		if p := b.mod(b.Rank + t.step); t.k < b.windowsOf(out[p]) {
			l.sendPinned(p, b.windowOf(out[p], t.k).in(Input))
		}
	}
	move := func(t turn) {
		if t.step == 1 && t.k < b.windowsOf(own) {
			l.copy(b.windowOf(own, t.k).in(Main), b.windowOf(mine, t.k).in(Input))
		}
	}
	ahead := min(turnLead, len(turns))
	for _, t := range turns[:ahead] {
		send(t)
	}
	for _, t := range turns[:ahead] {
		move(t)
	}
	for j, t := range turns {
		if p := b.mod(b.Rank - t.step); t.k < b.windowsOf(in[p]) {
			l.recv(p, b.windowOf(in[p], t.k).in(Main))
		}
		if j+ahead < len(turns) {
			send(turns[j+ahead])
			move(turns[j+ahead])
		}
	}
}

// windowsOf returns in how many windows a block is exchanged. Its
// length is all that both ends know.
func (b *builder) windowsOf(s span) int { return s.windows(b.turnWindow(s.n)) }

// windowOf returns one of them.
func (b *builder) windowOf(s span, k int) span { return s.window(k, b.turnWindow(s.n)) }

// turnWindow is the length of the windows of a block of n elements.
func (b *builder) turnWindow(n int) int {
	if !b.Crowded {
		return max(1, n)
	}
	most := max(1, turnWindows/(b.Size-1))
	return max(1, b.Window/(windowBytes/turnBytes), (n+most-1)/most)
}

// dissemination is the barrier: after the step over distance d, a rank has heard
// of the 2d ranks up to itself. An empty message says what its sender has heard,
// so it must not be sent ahead.
func dissemination(b *builder, l *lane) {
	for d := 1; d < b.Size; d *= 2 {
		l.sendPinned(b.mod(b.Rank+d), Slice{})
		l.recv(b.mod(b.Rank-d), Slice{})
	}
}

func sendRecv(b *builder, l *lane) {
	out, in := Slice{Input, 0, b.Count}, Slice{Main, 0, b.RecvCount}
	if b.Root == b.Rank {
		l.copy(in, out)
		return
	}
	l.send(b.Root, out)
	l.recv(b.From, in)
}
