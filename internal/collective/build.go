package collective

// Build returns what rank s.Rank does. It is a pure function: the schedules that
// the ranks of a group build from specs that agree fit together.
func Build(s Spec) (*Schedule, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if s.Window == 0 {
		s.Window = DefaultWindow
	}
	if s.ElemSize == 0 {
		s.ElemSize = defaultElemSize
	}
	s.flatten()
	b := &builder{Spec: s, source: Main, lanes: make([]lane, 1)}
	b.turn()
	if s.Separate {
		b.source = Input
	}
	if s.Size == 1 {
		b.alone()
	} else {
		b.build()
	}
	b.done()
	out := &Schedule{Scratch: b.scratch}
	out.Main, out.Input = s.lengths()
	for _, l := range b.lanes {
		if len(l.actions) > 0 {
			out.Lanes = append(out.Lanes, l.actions)
		}
	}
	return out, nil
}

// A builder gathers the actions of one schedule.
type builder struct {
	Spec
	order   []int  // ranks by place, if Rank, Root and the peers are places in a ring of cables
	source  Buffer // where the contribution of this rank lies
	lanes   []lane
	scratch int
}

// A way is an operation with an algorithm for it.
type way struct {
	kind Kind
	algo Algo
}

func (b *builder) build() {
	l := &b.lanes[0]
	if b.empty() {
		greet(b, l)
		return
	}
	switch (way{b.Kind, b.Algo}) {
	case way{AllReduce, Ring}, way{AllReduce, BiRing}:
		ringAllReduce(b)
	case way{AllReduce, Direct}:
		directAllReduce(b, l)
	case way{AllReduce, Doubling}:
		doublingAllReduce(b, l)
	case way{AllReduce, HalvingDoubling}:
		circulantAllReduce(b, l)
	case way{AllReduce, Tree}:
		treeAllReduce(b, l)
	case way{AllReduce, Cable}:
		cableAllReduce(b, l)
	case way{AllReduce, Mesh}:
		meshAllReduce(b, l)
	case way{AllReduce, Hier}:
		hierAllReduce(b, l)
	case way{ReduceScatter, Ring}, way{ReduceScatter, BiRing}:
		ringScatter(b)
	case way{ReduceScatter, Direct}:
		directReduceScatter(b, l)
	case way{ReduceScatter, HalvingDoubling}:
		circulantScatter(b, l)
	case way{ReduceScatter, Hier}:
		hierReduceScatter(b, l)
	case way{AllGather, Ring}, way{AllGather, BiRing}:
		ringGather(b)
	case way{AllGather, Direct}:
		directAllGather(b, l)
	case way{AllGather, Doubling}:
		circulantGather(b, l)
	case way{AllGather, Hier}:
		hierAllGather(b, l)
	case way{Broadcast, Ring}, way{Broadcast, BiRing}:
		chainBroadcast(b)
	case way{Broadcast, Direct}:
		directBroadcast(b, l)
	case way{Broadcast, Tree}:
		treeBroadcast(b, l)
	case way{Broadcast, Cable}:
		broadcastAlong(b, l, cableNode(b, b.Root))
	case way{Broadcast, Hier}:
		broadcastAlong(b, l, hierNode(b))
	case way{Reduce, Ring}:
		chainReduce(b, l)
	case way{Reduce, Direct}:
		directReduce(b, l)
	case way{Reduce, Tree}:
		treeReduce(b, l)
	case way{Reduce, Cable}:
		reduceAlong(b, l, cableNode(b, b.Root))
	case way{Reduce, Hier}:
		reduceAlong(b, l, hierNode(b))
	case way{Gather, Tree}:
		treeGather(b, l)
	case way{Gather, Direct}:
		directGather(b, l)
	case way{Scatter, Tree}:
		treeScatter(b, l)
	case way{Scatter, Direct}:
		directScatter(b, l)
	case way{AllToAll, Direct}:
		pairwise(b, l)
	case way{Barrier, Direct}:
		greet(b, l)
	case way{Barrier, Doubling}:
		dissemination(b, l)
	case way{Barrier, Tree}:
		treeBarrier(b, l)
	case way{Barrier, Hier}:
		hierBarrier(b, l)
	case way{Send, Direct}:
		l.send(b.Root, Slice{b.source, 0, b.Count})
	case way{Recv, Direct}:
		l.recv(b.Root, Slice{Main, 0, b.Count})
	case way{SendRecv, Direct}:
		sendRecv(b, l)
	}
}

// empty reports whether there is nothing to reduce or to gather.
func (b *builder) empty() bool {
	switch b.Kind {
	case AllReduce:
		return b.Count == 0
	case ReduceScatter, AllGather:
		return total(b.blocks()) == 0
	}
	return false
}

// alone is every collective in a group of one: the contribution is the result.
func (b *builder) alone() {
	if main, input := b.lengths(); b.Separate && b.Kind != Barrier {
		n := min(main, input)
		b.lanes[0].copy(Slice{Main, 0, n}, Slice{Input, 0, n})
	}
}

// greet exchanges an empty message with every peer. It is the direct barrier,
// and what collectives of no elements do, so that ranks which disagree find out.
func greet(b *builder, l *lane) {
	for i := 1; i < b.Size; i++ {
		l.send(b.mod(b.Rank+i), Slice{})
	}
	for i := 1; i < b.Size; i++ {
		l.recv(b.mod(b.Rank-i), Slice{})
	}
}

// mod maps any rank expression into the group.
func (b *builder) mod(r int) int {
	return (r%b.Size + b.Size) % b.Size
}

// from returns this rank's contribution to a range of the vector, for the
// operations whose contribution is a whole vector.
func (b *builder) from(s span) Slice { return Slice{b.source, s.off, s.n} }

// stage reserves n elements of scratch and returns where they begin.
func (b *builder) stage(n int) int {
	at := b.scratch
	b.scratch += n
	return at
}
