package collective

import "math/bits"

// doublingAllReduce is recursive doubling. Where the number of ranks is not a
// power of two, the first ranks fold in pairs: the even one of a pair hands its
// contribution to the odd one and gets the result back.
//
// Both ends of an exchange send what they hold and compute lower op upper, so the
// contributions stay in rank order. As a rank must not overwrite what it is
// sending, the running sum alternates between Main and scratch.
func doublingAllReduce(b *builder, l *lane) {
	steps := bits.Len(uint(b.Size)) - 1
	folded := b.Size - 1<<steps // number of pairs
	vector := span{0, b.Count}
	const slots = 2 // the next window starts while the peer still takes the last
	w := max(1, min(b.Count, b.Window/slots))
	at := b.stage(slots * w)

	for k := range vector.windows(w) {
		win := vector.window(k, w)
		out, spare := win.in(Main), Slice{Scratch, at + k%slots*w, win.n}
		sum := b.from(win)
		pos := b.Rank - folded
		if b.Rank < 2*folded {
			if b.Rank%2 == 0 {
				l.send(b.Rank+1, sum)
				l.recv(b.Rank+1, out)
				continue
			}
			l.recvBefore(b.Rank-1, out, sum, false)
			sum, pos = out, b.Rank/2
		}
		for step := range steps {
			peer := pos ^ 1<<step
			lower := peer < pos
			if peer < folded {
				peer = 2*peer + 1
			} else {
				peer += folded
			}
			l.send(peer, sum)
			next := out
			if sum == out || sum.Buf == Input && (steps-1-step)%2 == 1 {
				next = spare
			}
			if lower {
				l.recvBefore(peer, next, sum, step == steps-1)
			} else {
				l.recvReduce(peer, next, sum, step == steps-1)
			}
			sum = next
		}
		if sum != out {
			l.copy(out, sum)
		}
		if b.Rank < 2*folded {
			l.send(b.Rank-1, out)
		}
	}
}
