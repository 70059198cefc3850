package collective

// chainBroadcast passes the vector along a chain that starts at the root; cut
// into segments, all links are busy at once. With BiRing each direction carries
// one half.
func chainBroadcast(b *builder) {
	if b.Count < 2 {
		b.Algo = Ring // no second half
	}
	dirs := b.rings()
	for i, dir := range dirs {
		l := &b.lanes[i]
		part := span{0, b.Count}.part(i, len(dirs))
		node := b.mod(dir * (b.Rank - b.Root))
		src := part.in(Main)
		if node == 0 {
			src = b.from(part)
		} else {
			l.recv(b.mod(b.Rank-dir), src)
		}
		if node < b.Size-1 {
			l.send(b.mod(b.Rank+dir), src)
		}
		if src.Buf != Main {
			l.copy(part.in(Main), src)
		}
	}
}

// chainReduce combines along a chain that ends at the root. Only the root may
// write Main, so the partial sums pass through a few windows of scratch.
func chainReduce(b *builder, l *lane) {
	node := b.mod(b.Rank - b.Root)
	vector := span{0, b.Count}
	w := max(1, min(b.Count, b.Window/ringSlots))
	slots := 0
	if inner := node > 0 && node < b.Size-1; inner {
		slots = b.stage(ringSlots * w)
	}
	next, prev := b.mod(b.Rank-1), b.mod(b.Rank+1)
	for k := range vector.windows(w) {
		win := vector.window(k, w)
		switch node {
		case b.Size - 1:
			l.send(next, b.from(win))
		case 0:
			l.recvReduce(prev, win.in(Main), b.from(win), true)
		default:
			sum := Slice{Scratch, slots + k%ringSlots*w, win.n}
			l.recvReduce(prev, sum, b.from(win), false)
			l.send(next, sum)
		}
	}
}
