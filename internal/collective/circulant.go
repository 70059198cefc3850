package collective

// The halving-doubling algorithms work on a circulant graph rather than a
// hypercube, which makes them optimal for every number of ranks: each rank sends
// and receives size-1 blocks in ⌈log2 size⌉ rounds.
//
// Rank r numbers the blocks from its own: number i is block (r+i) mod size. With
// s numbers left to reduce and h = ⌈s/2⌉, a rank sends its partial results h…s-1
// to rank r+h, whose numbers 0…s-h-1 they are, and adds what rank r-h sends to
// its own numbers 0…s-h-1. Then s = h, until number 0, its own block, is complete.
// Gathering runs the same rounds backwards.

// A round is one exchange over distance h in which numbers h…s-1 move.
type round struct{ s, h int }

func (b *builder) rounds() []round {
	var rs []round
	for s := b.Size; s > 1; s = (s + 1) / 2 {
		rs = append(rs, round{s, (s + 1) / 2})
	}
	return rs
}

// A run is a stretch of consecutive blocks that travels as one message.
type run struct {
	first int // number of its first block
	span  span
}

// runs returns the stretches that numbers i…i+k-1 form. Blocks that lie one
// behind the other are joined; both ends see the same boundaries, since those
// depend only on the blocks. Empty stretches are left out.
func (b *builder) runs(blocks []span, i, k int) []run {
	var rs []run
	for j := i; j < i+k; j++ {
		next := blocks[b.mod(b.Rank+j)]
		if next.n == 0 {
			continue
		}
		if n := len(rs); n > 0 && rs[n-1].span.off+rs[n-1].span.n == next.off {
			rs[n-1].span.n += next.n
		} else {
			rs = append(rs, run{j, next})
		}
	}
	return rs
}

func circulantAllReduce(b *builder, l *lane) {
	blocks := evenly(b.Count, b.Size)
	inMain := func(r run) Slice { return r.span.in(Main) }
	circulantReduce(b, l, blocks, inMain, inMain)
	circulantSpread(b, l, blocks, blocks[b.Rank].in(Main))
}

// circulantScatter is the reduce-scatter. Partial results of half of the blocks
// are alive at once, so long blocks are cut into windows that fit into scratch.
func circulantScatter(b *builder, l *lane) {
	blocks := b.blocks()
	alive := (b.Size + 1) / 2
	w := max(1, longest(blocks))
	if b.Size > 2 {
		w = max(1, min(w, b.Window/alive))
		if b.Separate {
			b.stage(alive * w)
		}
	}
	start := blocks[b.Rank].off
	for k := range (span{0, longest(blocks)}).windows(w) {
		cut := make([]span, len(blocks))
		for i, s := range blocks {
			cut[i] = s.window(k, w)
		}
		acc := func(r run) Slice { return r.span.in(Main) }
		result := acc
		if b.Separate {
			place := b.places(cut)
			acc = func(r run) Slice { return Slice{Scratch, place[r.first], r.span.n} }
			result = func(r run) Slice { return Slice{Main, r.span.off - start, r.span.n} }
		}
		circulantReduce(b, l, cut, acc, result)
	}
}

// places lays the blocks out one behind the other by number, so that a run of
// blocks is in one piece there too.
func (b *builder) places(blocks []span) []int {
	at := make([]int, len(blocks))
	for i := 1; i < len(at); i++ {
		at[i] = at[i-1] + blocks[b.mod(b.Rank+i-1)].n
	}
	return at
}

func circulantGather(b *builder, l *lane) {
	blocks := b.blocks()
	first := blocks[b.Rank].in(Main)
	if b.Separate {
		first = Slice{Input, 0, blocks[b.Rank].n}
	}
	circulantSpread(b, l, blocks, first)
}

// circulantReduce leaves the own block, complete, in result. acc says where the
// partial results of a run are kept.
func circulantReduce(b *builder, l *lane, blocks []span, acc, result func(run) Slice) {
	for i, r := range b.rounds() {
		now := func(r run) Slice {
			if i == 0 {
				return b.from(r.span)
			}
			return acc(r)
		}
		for _, out := range b.runs(blocks, r.h, r.s-r.h) {
			l.send(b.mod(b.Rank+r.h), now(out))
		}
		if i == 0 && r.s-r.h < r.h && r.h > 1 {
			// An odd number of blocks: the middle one is neither sent nor
			// received now, and later rounds look for it in acc.
			for _, mid := range b.runs(blocks, r.h-1, 1) {
				if to := acc(mid); to != b.from(mid.span) {
					l.copy(to, b.from(mid.span))
				}
			}
		}
		for _, in := range b.runs(blocks, 0, r.s-r.h) {
			dst := acc(in)
			if r.h == 1 {
				dst = result(in)
			}
			l.recvBefore(b.mod(b.Rank-r.h), dst, now(in), r.h == 1)
		}
	}
}

// circulantSpread gathers all blocks in Main; first is the own one, which is
// copied to its place if it lies elsewhere.
func circulantSpread(b *builder, l *lane, blocks []span, first Slice) {
	own := blocks[b.Rank].in(Main)
	rounds := b.rounds()
	for i := len(rounds) - 1; i >= 0; i-- {
		r := rounds[i]
		for _, out := range b.runs(blocks, 0, r.s-r.h) {
			src := out.span.in(Main)
			if r.h == 1 {
				src = first
			}
			l.send(b.mod(b.Rank-r.h), src)
		}
		if r.h == 1 && first != own && own.Len > 0 {
			l.copy(own, first)
		}
		for _, in := range b.runs(blocks, r.h, r.s-r.h) {
			l.recv(b.mod(b.Rank+r.h), in.span.in(Main))
		}
	}
}
