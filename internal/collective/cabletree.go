package collective

import "slices"

// cableWindows is how many windows of a vector are on their way up the tree before
// the first is awaited back.
const cableWindows = 4

// A node is a rank's place in a tree.
type node struct {
	parent   int // -1 at the root
	children []int
}

// cableNode returns this rank's place in the tree of cables, with the given root; without
// cables, in the chain of the numbers. A root below 0 is the tree's own.
func cableNode(b *builder, root int) node {
	near := make([][]int, b.Size)
	join := func(r, p int) { near[r], near[p] = append(near[r], p), append(near[p], r) }
	for r := range b.Size {
		switch {
		case b.Cables == nil && r > 0:
			join(r, r-1)
		case b.Cables != nil && b.Cables.Parent[r] >= 0:
			join(r, b.Cables.Parent[r])
		case root < 0:
			root = r
		}
	}
	n := node{parent: -1}
	var walk func(r, from int)
	walk = func(r, from int) {
		for _, next := range near[r] {
			if next == from {
				continue
			}
			if r == b.Rank {
				n.children = append(n.children, next)
			}
			if next == b.Rank {
				n.parent = r
			}
			walk(next, r)
		}
	}
	walk(root, -1)
	return n
}

// cableAllReduce passes windows up the tree, adding on the way, and the sums down
// again while the next ones come up: every cable is busy in both directions.
func cableAllReduce(b *builder, l *lane) {
	at := cableNode(b, -1)
	vector := span{0, b.Count}
	w := max(1, min(b.Count, b.Window/(2*cableWindows)), b.Count/maxSegments)
	windows := vector.windows(w)
	down := func(k int) {
		win := vector.window(k, w).in(Main)
		if at.parent >= 0 {
			l.recv(at.parent, win)
		}
		for _, c := range at.children {
			l.send(c, win)
		}
	}
	for k := range windows {
		win := vector.window(k, w)
		cableUp(b, l, &at, b.from(win), win.in(Main))
		switch {
		case at.parent < 0:
			down(k)
		case k >= cableWindows:
			down(k - cableWindows)
		}
	}
	if at.parent >= 0 {
		for k := max(0, windows-cableWindows); k < windows; k++ {
			down(k)
		}
	}
}

// cableUp adds what the children send to own, in acc, and passes it on.
func cableUp(b *builder, l *lane, at *node, own, acc Slice) {
	sum := own
	for i, c := range at.children {
		l.recvReduce(c, acc, sum, at.parent < 0 && i == len(at.children)-1)
		sum = acc
	}
	if at.parent >= 0 {
		l.send(at.parent, sum)
	}
}

// reduceAlong is the way up to the root alone. Only the root may write Main, so the
// sums of the others pass through a few windows of scratch.
func reduceAlong(b *builder, l *lane, at node) {
	vector := span{0, b.Count}
	w := max(1, min(b.Count, b.Window/ringSlots))
	slots := 0
	inner := at.parent >= 0 && len(at.children) > 0
	if inner {
		slots = b.stage(ringSlots * w)
	}
	for k := range vector.windows(w) {
		win := vector.window(k, w)
		acc := win.in(Main)
		if inner {
			acc = Slice{Scratch, slots + k%ringSlots*w, win.n}
		}
		cableUp(b, l, &at, b.from(win), acc)
	}
}

// broadcastAlong is the way down from the root alone. The children that come last
// have most below them, or are farthest, and are served first.
func broadcastAlong(b *builder, l *lane, at node) {
	vector := span{0, b.Count}
	src := vector.in(Main)
	if at.parent < 0 {
		src = b.from(vector)
	} else {
		l.recv(at.parent, src)
	}
	for _, c := range slices.Backward(at.children) {
		l.send(c, src)
	}
	if src.Buf != Main {
		l.copy(vector.in(Main), src)
	}
}
