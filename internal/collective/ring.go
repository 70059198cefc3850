package collective

// ringSlots is how many partial blocks a ring that must not touch its input
// keeps in scratch. Two are the least: with one, every rank would wait for the
// next to take the block it holds, all around the ring.
const ringSlots = 4

// rings returns the directions in which the lanes of a ring go.
func (b *builder) rings() []int {
	if b.Algo == BiRing && b.Size > 2 {
		b.lanes = make([]lane, 2)
		return []int{1, -1}
	}
	return []int{1}
}

func ringAllReduce(b *builder) {
	if b.pairs() {
		pairAllReduce(b, &b.lanes[0])
		return
	}
	blocks := evenly(b.Count, b.Size)
	dirs := b.rings()
	for i, dir := range dirs {
		l := &b.lanes[i]
		part := func(block int) span { return blocks[block].part(i, len(dirs)) }
		ringReduce(b, l, dir, part, func(_ int, s span) Slice { return s.in(Main) })
		ringSpread(b, l, dir, part, part(b.Rank).in(Main))
	}
}

// ringScatter is the reduce-scatter. Blocks go round window by window, so that
// the partial results fit into scratch whatever the length of a block.
func ringScatter(b *builder) {
	blocks := b.blocks()
	dirs := b.rings()
	w := max(1, longest(blocks))
	if b.Size > 2 {
		w = max(1, min(w, b.Window/(ringSlots*len(dirs))))
	}
	for i, dir := range dirs {
		l := &b.lanes[i]
		half := func(block int) span { return blocks[block].part(i, len(dirs)) }
		most := 0
		for block := range blocks {
			most = max(most, half(block).windows(w))
		}
		slots := 0
		if b.Separate && b.Size > 2 {
			slots = b.stage(ringSlots * w)
		}
		for k := range most {
			part := func(block int) span { return half(block).window(k, w) }
			ringReduce(b, l, dir, part, func(step int, s span) Slice {
				switch {
				case !b.Separate:
					return s.in(Main)
				case step == b.Size-2:
					return Slice{Main, s.off - blocks[b.Rank].off, s.n}
				}
				slot := (k*(b.Size-2) + step) % ringSlots
				return Slice{Scratch, slots + slot*w, s.n}
			})
		}
	}
}

func ringGather(b *builder) {
	blocks := b.blocks()
	dirs := b.rings()
	for i, dir := range dirs {
		part := func(block int) span { return blocks[block].part(i, len(dirs)) }
		own := part(b.Rank)
		first := own.in(Main)
		if b.Separate {
			first = Slice{Input, own.off - blocks[b.Rank].off, own.n}
		}
		ringSpread(b, &b.lanes[i], dir, part, first)
	}
}

// ringReduce passes every block once around the ring; block r starts behind rank
// r and ends there, complete. acc says where the partial result received in a
// step is kept. Each rank adds its own contribution on the right.
func ringReduce(b *builder, l *lane, dir int, part func(block int) span, acc func(step int, s span) Slice) {
	next, prev := b.mod(b.Rank+dir), b.mod(b.Rank-dir)
	for step := range b.Size - 1 {
		out := part(b.mod(b.Rank - dir*(step+1)))
		in := part(b.mod(b.Rank - dir*(step+2)))
		if out.n > 0 {
			src := b.from(out)
			if step > 0 {
				src = acc(step-1, out)
			}
			l.send(next, src)
		}
		if in.n > 0 {
			l.recvBefore(prev, acc(step, in), b.from(in), step == b.Size-2)
		}
	}
}

// ringSpread passes the complete blocks around the ring into Main. first is the
// own block, which is copied to its place if it lies elsewhere.
func ringSpread(b *builder, l *lane, dir int, part func(block int) span, first Slice) {
	next, prev := b.mod(b.Rank+dir), b.mod(b.Rank-dir)
	own := part(b.Rank).in(Main)
	for step := range b.Size - 1 {
		out := part(b.mod(b.Rank - dir*step))
		in := part(b.mod(b.Rank - dir*(step+1)))
		if out.n > 0 {
			src := out.in(Main)
			if step == 0 {
				src = first
			}
			l.send(next, src)
		}
		if step == 0 && first != own && own.Len > 0 {
			l.copy(own, first)
		}
		if in.n > 0 {
			l.recv(prev, in.in(Main))
		}
	}
}
