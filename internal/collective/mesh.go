package collective

// meshWindow is how many elements a rank takes from one peer before it turns to the
// next, so that no cable waits for long.
const meshWindow = 1 << 14

// meshAllReduce has every rank add up one block, to which all others send their
// part, and send it to all others: every cable of a complete graph is used, in both
// directions. An owner adds the others' parts to its own, in the order of the ranks
// behind it.
func meshAllReduce(b *builder, l *lane) {
	blocks := evenly(b.Count, b.Size)
	w := max(1, min(longest(blocks), meshWindow), longest(blocks)/maxSegments)
	most := (span{0, longest(blocks)}).windows(w)
	others := func(do func(peer int)) {
		for i := 1; i < b.Size; i++ {
			do(b.mod(b.Rank + i))
		}
	}
	for k := range most {
		others(func(p int) {
			if win := blocks[p].window(k, w); win.n > 0 {
				l.send(p, b.from(win))
			}
		})
	}
	for k := range most {
		win := blocks[b.Rank].window(k, w)
		if win.n == 0 {
			continue
		}
		sum := b.from(win)
		left := b.Size - 1
		others(func(p int) {
			left--
			l.recvReduce(p, win.in(Main), sum, left == 0)
			sum = win.in(Main)
		})
		others(func(p int) { l.send(p, win.in(Main)) })
	}
	for k := range most {
		others(func(p int) {
			if win := blocks[p].window(k, w); win.n > 0 {
				l.recv(p, win.in(Main))
			}
		})
	}
}
