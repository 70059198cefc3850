package collective

// The host-first operations on blocks. Rank i of a host looks after the blocks of
// the i-th ranks of the other hosts, and of those i places on if they are fewer
// here: it is the only one of its host that sends or receives them across.

// hierKeeper is the rank of a host that looks after the block of a rank elsewhere.
func hierKeeper(b *builder, host, of int) int {
	members := b.Hosts.members[host]
	return members[b.Hosts.place[of]%len(members)]
}

// abroad calls do for the ranks of other hosts: host by host from the one behind
// this rank's host on, so that not all hosts turn to the same one at first.
func (b *builder) abroad(do func(rank int)) {
	hosts := b.Hosts.Count()
	for i := 1; i < hosts; i++ {
		for _, r := range b.Hosts.members[(b.Hosts.of[b.Rank]+i)%hosts] {
			do(r)
		}
	}
}

// hierReduceScatter adds up every block within each host, at the rank that looks
// after it, which sends the sum to its owner.
func hierReduceScatter(b *builder, l *lane) {
	blocks := b.blocks()
	host := b.Hosts.of[b.Rank]
	var kept []int // blocks of other hosts that this rank looks after
	b.abroad(func(r int) {
		if hierKeeper(b, host, r) == b.Rank {
			kept = append(kept, r)
		}
	})
	const slots = 2 // sums of one window grow while those of the last still leave
	w := max(1, min(longest(blocks), hierBlockWindow(b, slots)))
	at := 0
	if b.Separate && len(b.Hosts.members[host]) > 1 {
		at = b.stage(slots * len(kept) * w)
	}
	for k := range (span{0, longest(blocks)}).windows(w) {
		win := func(r int) span { return blocks[r].window(k, w) }
		contribute := func(keeper, r int) {
			if keeper != b.Rank && win(r).n > 0 {
				l.send(keeper, b.from(win(r)))
			}
		}
		b.abroad(func(r int) { contribute(hierKeeper(b, host, r), r) })
		b.neighbours(func(peer, _ int) { contribute(peer, peer) })
		for i, r := range kept {
			acc := win(r).in(Main)
			if b.Separate {
				acc = Slice{Scratch, at + (k%slots*len(kept)+i)*w, win(r).n}
			}
			if sum := hierCombine(b, l, win(r), acc); sum.Len > 0 {
				l.send(r, sum)
			}
		}
		hierCollect(b, l, win(b.Rank), blocks[b.Rank].off)
	}
}

// hierBlockWindow is how much of a block is reduced at a time, such that the sums
// of all blocks that any rank looks after fit into scratch.
func hierBlockWindow(b *builder, slots int) int {
	least := b.Hosts.least
	// A rank looks after at most ⌈most/least⌉ blocks of each other host.
	most := (b.Hosts.most + least - 1) / least * (b.Hosts.Count() - 1)
	return b.Window / (slots * most)
}

// hierCombine adds up a part of the vector over the ranks of this host and returns
// where the sum is.
func hierCombine(b *builder, l *lane, win span, acc Slice) Slice {
	sum := b.from(win)
	if win.n == 0 {
		return sum
	}
	b.neighbours(func(peer, _ int) {
		l.recvReduce(peer, acc, sum, false)
		sum = acc
	})
	return sum
}

// hierCollect adds up a window of the own block: over this host, then over the sums
// of the others. start is where the block begins.
func hierCollect(b *builder, l *lane, win span, start int) {
	if win.n == 0 {
		return
	}
	dst := win.in(Main)
	if b.Separate {
		dst.Off -= start
	}
	sum := hierCombine(b, l, win, dst)
	hosts := b.Hosts.Count()
	for i := 1; i < hosts; i++ {
		keeper := hierKeeper(b, (b.Hosts.of[b.Rank]+hosts-i)%hosts, b.Rank)
		l.recvReduce(keeper, dst, sum, i == hosts-1)
		sum = dst
	}
}

// hierAllGather sends the own block to the ranks that look after it, and those pass
// it on within their hosts.
func hierAllGather(b *builder, l *lane) {
	blocks := b.blocks()
	own := blocks[b.Rank].in(Main)
	src := own
	if b.Separate {
		src = Slice{Input, 0, own.Len}
	}
	hosts, host := b.Hosts.Count(), b.Hosts.of[b.Rank]
	if own.Len > 0 {
		for i := 1; i < hosts; i++ {
			l.send(hierKeeper(b, (host+i)%hosts, b.Rank), src)
		}
		b.neighbours(func(peer, _ int) { l.send(peer, src) })
		if src != own {
			l.copy(own, src)
		}
	}
	recv := func(from, r int) {
		if blocks[r].n > 0 {
			l.recv(from, blocks[r].in(Main))
		}
	}
	b.neighbours(func(peer, _ int) { recv(peer, peer) })
	b.abroad(func(r int) {
		if hierKeeper(b, host, r) != b.Rank || blocks[r].n == 0 {
			return
		}
		recv(r, r)
		b.neighbours(func(peer, _ int) { l.send(peer, blocks[r].in(Main)) })
	})
	b.abroad(func(r int) {
		if keeper := hierKeeper(b, host, r); keeper != b.Rank {
			recv(keeper, r)
		}
	})
}
