package collective

// directAllReduce sends the whole vector to everyone, and every rank computes
// the same expression, in rank order. Both ends of a link send the very range
// that they overwrite with the result, so the sum grows in scratch: a window at
// a time, in order to bound that.
func directAllReduce(b *builder, l *lane) {
	vector := span{0, b.Count}
	w := min(b.Count, b.Window)
	sum := Slice{Buf: Scratch}
	if !b.Separate {
		sum.Off = b.stage(w)
	}
	for k := range vector.windows(w) {
		win := vector.window(k, w)
		for i := 1; i < b.Size; i++ {
			l.send(b.mod(b.Rank+i), b.from(win))
		}
		acc := win.in(Main)
		if !b.Separate {
			acc = Slice{Scratch, sum.Off, win.n}
		}
		inRankOrder(b, l, b.from(win), acc, acc, win.in(Main))
	}
}

// directReduce has the root receive from everyone and combine in rank order.
func directReduce(b *builder, l *lane) {
	vector := span{0, b.Count}
	w := max(1, min(b.Count, b.Window))
	before := stageBefore(b, w, b.Rank == b.Root)
	for k := range vector.windows(w) {
		win := vector.window(k, w)
		if b.Rank != b.Root {
			l.send(b.Root, b.from(win))
			continue
		}
		inRankOrder(b, l, b.from(win), before(win.in(Main)), win.in(Main), win.in(Main))
	}
}

// directReduceScatter has every rank receive its block from everyone and combine
// in rank order.
func directReduceScatter(b *builder, l *lane) {
	blocks := b.blocks()
	own := blocks[b.Rank]
	w := max(1, min(longest(blocks), b.Window))
	before := stageBefore(b, w, true)
	for k := range (span{0, longest(blocks)}).windows(w) {
		for i := 1; i < b.Size; i++ {
			if p := b.mod(b.Rank + i); k < blocks[p].windows(w) {
				l.send(p, b.from(blocks[p].window(k, w)))
			}
		}
		if k >= own.windows(w) {
			continue
		}
		win := own.window(k, w)
		dst := win.in(Main)
		if b.Separate {
			dst.Off -= own.off
		}
		inRankOrder(b, l, b.from(win), before(dst), dst, dst)
	}
}

// stageBefore returns where a rank that receives the result keeps the sum of the
// lower ranks for dst. That is dst itself unless the own contribution lies there
// and is not the first or second operand.
func stageBefore(b *builder, w int, receives bool) func(dst Slice) Slice {
	if b.Separate || b.Rank < 2 || !receives {
		return func(dst Slice) Slice { return dst }
	}
	at := b.stage(w)
	return func(dst Slice) Slice { return Slice{Scratch, at, dst.Len} }
}

// inRankOrder combines the contributions of all ranks from left to right into
// dst. own is that of this rank; the others arrive. Until own is used up, which
// may lie in dst, the sum grows in before; then in after.
func inRankOrder(b *builder, l *lane, own, before, after, dst Slice) {
	sum := own
	switch b.Rank {
	case 0:
	case 1:
		l.recvBefore(0, after, own, b.Size == 2)
		sum = after
	default:
		l.recv(0, before)
		for p := 1; p < b.Rank; p++ {
			l.recvReduce(p, before, before, false)
		}
		last := b.Rank == b.Size-1
		sum = after
		if last {
			sum = dst
		}
		l.reduce(sum, before, own, last)
	}
	for p := b.Rank + 1; p < b.Size; p++ {
		l.recvReduce(p, after, sum, p == b.Size-1)
		sum = after
	}
	if sum != dst {
		l.copy(dst, sum)
	}
}

func directAllGather(b *builder, l *lane) {
	blocks := b.blocks()
	own := blocks[b.Rank].in(Main)
	src := own
	if b.Separate {
		src = Slice{Input, 0, own.Len}
	}
	for i := 1; i < b.Size; i++ {
		l.send(b.mod(b.Rank+i), src)
	}
	if src != own {
		l.copy(own, src)
	}
	for i := 1; i < b.Size; i++ {
		p := b.mod(b.Rank - i)
		l.recv(p, blocks[p].in(Main))
	}
}

func directBroadcast(b *builder, l *lane) {
	vector := span{0, b.Count}
	if b.Rank != b.Root {
		l.recv(b.Root, vector.in(Main))
		return
	}
	for i := 1; i < b.Size; i++ {
		l.send(b.mod(b.Rank+i), b.from(vector))
	}
	if b.Separate {
		l.copy(vector.in(Main), b.from(vector))
	}
}

func directGather(b *builder, l *lane) {
	blocks := b.blocks()
	own := blocks[b.Rank]
	if b.Rank != b.Root {
		l.send(b.Root, Slice{b.source, 0, own.n})
		return
	}
	if b.Separate {
		l.copy(own.in(Main), Slice{Input, 0, own.n})
	}
	for i := 1; i < b.Size; i++ {
		p := b.mod(b.Rank + i)
		l.recv(p, blocks[p].in(Main))
	}
}

func directScatter(b *builder, l *lane) {
	blocks := b.blocks()
	own := blocks[b.Rank]
	if b.Rank != b.Root {
		l.recv(b.Root, Slice{Main, 0, own.n})
		return
	}
	for i := 1; i < b.Size; i++ {
		p := b.mod(b.Rank + i)
		l.send(p, blocks[p].in(b.source))
	}
	if b.Separate {
		l.copy(Slice{Main, 0, own.n}, own.in(Input))
	}
}
