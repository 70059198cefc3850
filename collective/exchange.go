package collective

// pairwise is the all-to-all: in step i a rank sends to the rank i places on and
// receives from the one i places back, so that nobody is the target of two at
// once. One step is sent ahead.
func (b *builder) pairwise(l *lane) {
	out, in := b.blocks(), b.blocks()
	if b.RecvCounts != nil {
		in = behind(b.RecvCounts)
	}
	send := func(i int) {
		p := b.mod(b.Rank + i)
		l.sendPinned(p, out[p].in(Input))
	}
	send(1)
	for i := 1; i < b.Size; i++ {
		if i+1 < b.Size {
			send(i + 1)
		}
		if i == 1 {
			l.copy(in[b.Rank].in(Main), out[b.Rank].in(Input))
		}
		p := b.mod(b.Rank - i)
		l.recv(p, in[p].in(Main))
	}
}

// dissemination is the barrier: after the step over distance d, a rank has heard
// of the 2d ranks up to itself. An empty message says what its sender has heard,
// so it must not be sent ahead.
func (b *builder) dissemination(l *lane) {
	for d := 1; d < b.Size; d *= 2 {
		l.sendPinned(b.mod(b.Rank+d), Slice{})
		l.recv(b.mod(b.Rank-d), Slice{})
	}
}

func (b *builder) sendRecv(l *lane) {
	out, in := Slice{Input, 0, b.Count}, Slice{Main, 0, b.RecvCount}
	if b.Root == b.Rank {
		l.copy(in, out)
		return
	}
	l.send(b.Root, out)
	l.recv(b.From, in)
}
