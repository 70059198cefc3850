package collective

import "slices"

// The binomial tree over ranks counted from the root: node v has the children
// v+1, v+2, v+4, … below its lowest set bit, and the subtree of v is the range of
// nodes up to its next sibling. The ranks of a subtree are contiguous, so that
// combining children in ascending order keeps rank order (from the root on).

// A place is where this rank sits in the tree.
type place struct {
	node     int   // rank counted from the root
	parent   int   // node of the parent, -1 at the root
	children []int // nodes, smallest subtree first
	subtree  int   // nodes at and below this one; not known of spread
}

func (b *builder) place(root int) place {
	p := place{node: b.mod(b.Rank - root), parent: -1}
	bit := 1
	for ; bit < b.Size; bit <<= 1 {
		if p.node&bit != 0 {
			p.parent = p.node - bit
			break
		}
		if p.node+bit < b.Size {
			p.children = append(p.children, p.node+bit)
		}
	}
	p.subtree = min(bit, b.Size-p.node)
	return p
}

// spread is the place in the tree of operations that need no contiguous subtrees. Ranks that
// outnumber their processors are dealt to them in turn, by our launcher and by operating systems
// that are left to it; for them, the parent of node v is v without its highest set bit. So a node
// sends first to one that runs elsewhere, which passes on meanwhile to its own neighbours;
// those of the node itself, which have to wait for the processor anyway, come last. In the
// other tree, one processor does most of the sending while the others wait for it.
func (b *builder) spread(root int) place {
	if !b.Crowded {
		return b.place(root)
	}
	p := place{node: b.mod(b.Rank - root), parent: -1}
	bit := 1
	for bit <= p.node {
		bit <<= 1
	}
	if p.node > 0 {
		p.parent = p.node - bit>>1
	}
	for ; p.node+bit < b.Size; bit <<= 1 {
		p.children = append(p.children, p.node+bit)
	}
	slices.Reverse(p.children)
	return p
}

// below returns the size of the subtree of a child.
func (p *place) below(child int) int {
	return min(child-p.node, p.node+p.subtree-child)
}

func treeAllReduce(b *builder, l *lane) {
	at := b.spread(0)
	vector := span{0, b.Count}
	w := max(1, min(b.Count, b.Window))
	for k := range vector.windows(w) {
		win := vector.window(k, w)
		treeUp(b, l, &at, 0, b.from(win), win.in(Main))
	}
	for k := range vector.windows(w) {
		win := vector.window(k, w)
		treeDown(b, l, &at, 0, win.in(Main), win.in(Main))
	}
}

// treeReduce keeps partial sums in scratch, since only the root may write Main.
func treeReduce(b *builder, l *lane) {
	at := b.place(b.Root)
	vector := span{0, b.Count}
	const slots = 2 // one fills while the parent takes the other
	w := max(1, min(b.Count, b.Window/slots))
	inner := at.parent >= 0 && len(at.children) > 0
	slot := 0
	if inner {
		slot = b.stage(slots * w)
	}
	for k := range vector.windows(w) {
		win := vector.window(k, w)
		acc := win.in(Main)
		if inner {
			acc = Slice{Scratch, slot + k%slots*w, win.n}
		}
		treeUp(b, l, &at, b.Root, b.from(win), acc)
	}
}

func treeBroadcast(b *builder, l *lane) {
	at := b.spread(b.Root)
	vector := span{0, b.Count}
	w := max(1, min(b.Count, b.Window))
	for k := range vector.windows(w) {
		win := vector.window(k, w)
		src := win.in(Main)
		if at.parent < 0 {
			src = b.from(win)
		}
		treeDown(b, l, &at, b.Root, win.in(Main), src)
	}
	if at.parent < 0 && b.Separate {
		l.copy(vector.in(Main), b.from(vector))
	}
}

// treeUp combines own with what the children send, in acc, and passes it on.
func treeUp(b *builder, l *lane, at *place, root int, own, acc Slice) {
	sum := own
	for i, c := range at.children {
		l.recvReduce(b.mod(c+root), acc, sum, at.parent < 0 && i == len(at.children)-1)
		sum = acc
	}
	if at.parent >= 0 {
		l.send(b.mod(at.parent+root), sum)
	}
}

// treeDown receives dst from the parent and passes src on, largest subtree first.
func treeDown(b *builder, l *lane, at *place, root int, dst, src Slice) {
	if at.parent >= 0 {
		l.recv(b.mod(at.parent+root), dst)
	}
	for _, c := range slices.Backward(at.children) {
		l.send(b.mod(c+root), src)
	}
}

// treeBarrier goes up the tree and down again. Empty messages say what their sender has
// heard, so they must not be sent ahead.
func treeBarrier(b *builder, l *lane) {
	at := b.spread(0)
	for _, c := range at.children {
		l.recv(c, Slice{})
	}
	if at.parent >= 0 {
		l.sendPinned(at.parent, Slice{})
		l.recv(at.parent, Slice{})
	}
	for _, c := range slices.Backward(at.children) {
		l.sendPinned(c, Slice{})
	}
}

// treeGather packs the blocks of a subtree, by node, into one message to the
// parent. A window of each block at a time bounds the scratch.
func treeGather(b *builder, l *lane) {
	at := b.place(b.Root)
	blocks := b.blocks()
	own := span{0, b.Count}
	if b.Rank == b.Root && !b.Separate {
		own = blocks[b.Rank]
	}
	w := max(1, min(b.Count, b.Window/b.Size))
	if len(at.children) > 0 {
		b.stage(at.subtree * w)
	}
	for k := range own.windows(w) {
		win := own.window(k, w)
		packed := func(node, nodes int) Slice {
			return Slice{Scratch, (node - at.node) * win.n, nodes * win.n}
		}
		for _, c := range at.children {
			l.recv(b.mod(c+b.Root), packed(c, at.below(c)))
		}
		switch {
		case at.parent < 0:
			for node := 1; node < b.Size; node++ {
				to := blocks[b.mod(node+b.Root)].window(k, w)
				l.copy(to.in(Main), packed(node, 1))
			}
		case len(at.children) == 0:
			l.send(b.mod(at.parent+b.Root), win.in(b.source))
		default:
			l.copy(packed(at.node, 1), win.in(b.source))
			l.send(b.mod(at.parent+b.Root), packed(at.node, at.subtree))
		}
	}
	if b.Rank == b.Root && b.Separate {
		l.copy(blocks[b.Rank].in(Main), own.in(Input))
	}
}

// treeScatter is treeGather backwards.
func treeScatter(b *builder, l *lane) {
	at := b.place(b.Root)
	blocks := b.blocks()
	own := span{0, b.Count}
	w := max(1, min(b.Count, b.Window/b.Size))
	if len(at.children) > 0 {
		b.stage(at.subtree * w)
	}
	for k := range own.windows(w) {
		win := own.window(k, w)
		packed := func(node, nodes int) Slice {
			return Slice{Scratch, (node - at.node) * win.n, nodes * win.n}
		}
		switch {
		case at.parent < 0:
			for node := 1; node < b.Size; node++ {
				from := blocks[b.mod(node+b.Root)].window(k, w)
				l.copy(packed(node, 1), from.in(b.source))
			}
		case len(at.children) == 0:
			l.recv(b.mod(at.parent+b.Root), win.in(Main))
		default:
			l.recv(b.mod(at.parent+b.Root), packed(at.node, at.subtree))
			l.copy(win.in(Main), packed(at.node, 1))
		}
		for _, c := range slices.Backward(at.children) {
			l.send(b.mod(c+b.Root), packed(c, at.below(c)))
		}
	}
	if b.Rank == b.Root && b.Separate {
		l.copy(own.in(Main), blocks[b.Rank].in(Input))
	}
}
