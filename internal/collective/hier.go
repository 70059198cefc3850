package collective

import "slices"

// The host-first algorithms. Ranks of one host combine first, and what is combined
// crosses between the hosts once. All ranks of a host take part in that, each with
// its share of the vector, unless the vector is too short to be worth sharing.

const (
	// hierWindows is the most windows that a vector is cut into, so that one is
	// combined within hosts while the one before is on its way between them.
	hierWindows = 16
	// hierShare is the least share of a rank, as a fraction of Spec.Window: 4 KiB
	// of 2 MiB.
	hierShare = 512
	// hierChain is from which length on, as a fraction of Spec.Window, vectors pass
	// through chains instead of binomial trees: 256 KiB of 2 MiB.
	hierChain = 8
)

// flatten replaces the host-first algorithm, where there is nothing to do within
// hosts, by what is best among equals.
func (s *Spec) flatten() {
	if s.Algo != Hier || s.Hosts.Mixed() {
		return
	}
	s.Algo = Auto
	*s = s.Resolve(s.ElemSize)
}

// hierAllReduce scatters the sums of each host over its ranks, reduces the shares
// across hosts, and gathers within hosts again.
func hierAllReduce(b *builder, l *lane) {
	vector := span{0, b.Count}
	w := max(b.Window, (b.Count+hierWindows-1)/hierWindows)
	windows := vector.windows(w)
	for k := range windows + 2 {
		if k < windows {
			hierScatter(b, l, vector.window(k, w))
		}
		if k >= 1 && k <= windows {
			hierAcross(b, l, vector.window(k-1, w))
		}
		if k >= 2 {
			hierSpread(b, l, vector.window(k-2, w))
		}
	}
}

// hierShares returns the shares of the ranks of a host, by their place.
func hierShares(b *builder, host int, win span) []span {
	members := len(b.Hosts.members[host])
	shared := min(max(1, win.n/max(1, b.Window/hierShare)), members)
	shares := make([]span, members)
	for i := range shared {
		shares[i] = win.part(i, shared)
	}
	return shares
}

// hierScatter adds up this rank's share over the ranks of its host, in Main: the
// own part first, then those of the ranks behind it.
func hierScatter(b *builder, l *lane, win span) {
	shares := hierShares(b, b.Hosts.of[b.Rank], win)
	own := shares[b.Hosts.place[b.Rank]]
	sum := b.from(own)
	b.neighbours(func(peer, place int) {
		if shares[place].n > 0 {
			l.send(peer, b.from(shares[place]))
		}
	})
	if own.n == 0 {
		return
	}
	b.neighbours(func(peer, _ int) {
		l.recvReduce(peer, own.in(Main), sum, false)
		sum = own.in(Main)
	})
}

// hierSpread hands the shares round within the host.
func hierSpread(b *builder, l *lane, win span) {
	shares := hierShares(b, b.Hosts.of[b.Rank], win)
	own := shares[b.Hosts.place[b.Rank]]
	b.neighbours(func(peer, _ int) {
		if own.n > 0 {
			l.send(peer, own.in(Main))
		}
	})
	b.neighbours(func(peer, place int) {
		if shares[place].n > 0 {
			l.recv(peer, shares[place].in(Main))
		}
	})
}

// neighbours calls do for the other ranks of this host, from the one behind this
// rank on.
func (b *builder) neighbours(do func(peer, place int)) {
	members := b.Hosts.members[b.Hosts.of[b.Rank]]
	for i := 1; i < len(members); i++ {
		place := (b.Hosts.place[b.Rank] + i) % len(members)
		do(members[place], place)
	}
}

// hierAcross reduces the shares across hosts. Hosts with different numbers of ranks
// share the window differently: it is cut wherever one of them does, and each piece
// has one owner on every host.
func hierAcross(b *builder, l *lane, win span) {
	hosts := b.Hosts.Count()
	shares := make([][]span, hosts)
	var ends []int
	for h := range shares {
		shares[h] = hierShares(b, h, win)
		for _, s := range shares[h] {
			if s.n > 0 {
				ends = append(ends, s.off+s.n)
			}
		}
	}
	slices.Sort(ends)
	from := win.off
	for _, end := range slices.Compact(ends) {
		piece := span{from, end - from}
		from = end
		owners := make([]int, hosts)
		for h := range owners {
			owners[h] = b.Hosts.members[h][slices.IndexFunc(shares[h], func(s span) bool {
				return s.off <= piece.off && piece.off < s.off+s.n
			})]
		}
		if owners[b.Hosts.of[b.Rank]] == b.Rank {
			among(b, l, owners, piece, Spec{Kind: AllReduce})
		}
	}
}

// among appends a collective of some ranks on a piece of the vector. What is Auto
// suits its length. The contributions lie in Main, unless no reduction within the host has put them there.
func among(b *builder, l *lane, ranks []int, piece span, s Spec) {
	s.Rank, s.Size = slices.Index(ranks, b.Rank), len(ranks)
	s.Count, s.Window, s.ElemSize = piece.n, b.Window, b.ElemSize
	s.Separate = b.Separate && len(b.Hosts.members[b.Hosts.of[b.Rank]]) == 1
	sub := &builder{Spec: s.Resolve(b.ElemSize), source: Main, lanes: make([]lane, 1)}
	if s.Separate {
		sub.source = Input
	}
	sub.build()
	b.scratch = max(b.scratch, sub.scratch)
	shift := func(s Slice) Slice {
		if s.Len > 0 && s.Buf != Scratch {
			s.Off += piece.off
		}
		return s
	}
	for _, a := range sub.lanes[0].actions {
		a.Dst, a.Src, a.Arg = shift(a.Dst), shift(a.Src), shift(a.Arg)
		if a.Receives() || a.Step == SendStep {
			a.Peer = ranks[a.Peer]
		}
		l.actions = append(l.actions, a)
	}
}

// hierBarrier meets within each host, then the first ranks of the hosts meet.
func hierBarrier(b *builder, l *lane) {
	leaders := make([]int, b.Hosts.Count())
	for h, members := range b.Hosts.members {
		leaders[h] = members[0]
	}
	leader := leaders[b.Hosts.of[b.Rank]]
	if leader != b.Rank {
		l.sendPinned(leader, Slice{})
		l.recv(leader, Slice{})
		return
	}
	b.neighbours(func(peer, _ int) { l.recv(peer, Slice{}) })
	among(b, l, leaders, span{}, Spec{Kind: Barrier, Algo: Doubling})
	b.neighbours(func(peer, _ int) { l.sendPinned(peer, Slice{}) })
}

// hierNode returns this rank's place in a tree of the hosts, with the root's on top,
// with the ranks of each host below the one that is first in it.
func hierNode(b *builder) node {
	hs := b.Hosts
	chain := b.Count > b.Window/hierChain
	home := hs.of[b.Root]
	first := func(host int) int {
		if host == home {
			return b.Root
		}
		return hs.members[host][0]
	}
	host := hs.of[b.Rank]
	members := hs.members[host]
	n := branch(hs.place[b.Rank], len(members), hs.place[first(host)], chain)
	for i, c := range n.children {
		n.children[i] = members[c]
	}
	if n.parent >= 0 {
		n.parent = members[n.parent]
		return n
	}
	up := branch(host, hs.Count(), home, chain)
	for _, c := range up.children {
		n.children = append(n.children, first(c))
	}
	if up.parent >= 0 {
		n.parent = first(up.parent)
	}
	return n
}

// branch is the place of one of size nodes in a chain or a binomial tree from root.
func branch(at, size, root int, chain bool) node {
	sub := &builder{Spec: Spec{Rank: at, Size: size}}
	p := sub.place(root)
	if chain {
		p.parent, p.children = p.node-1, nil
		if p.node+1 < size {
			p.children = []int{p.node + 1}
		}
	}
	n := node{parent: -1}
	if p.parent >= 0 {
		n.parent = sub.mod(p.parent + root)
	}
	for _, c := range p.children {
		n.children = append(n.children, sub.mod(c+root))
	}
	return n
}
