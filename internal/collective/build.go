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
		b.greet(l)
		return
	}
	switch (way{b.Kind, b.Algo}) {
	case way{AllReduce, Ring}, way{AllReduce, BiRing}:
		b.ringAllReduce()
	case way{AllReduce, Direct}:
		b.directAllReduce(l)
	case way{AllReduce, Doubling}:
		b.doublingAllReduce(l)
	case way{AllReduce, HalvingDoubling}:
		b.circulantAllReduce(l)
	case way{AllReduce, Tree}:
		b.treeAllReduce(l)
	case way{AllReduce, Cable}:
		b.cableAllReduce(l)
	case way{AllReduce, Mesh}:
		b.meshAllReduce(l)
	case way{AllReduce, Hier}:
		b.hierAllReduce(l)
	case way{ReduceScatter, Ring}, way{ReduceScatter, BiRing}:
		b.ringScatter()
	case way{ReduceScatter, Direct}:
		b.directReduceScatter(l)
	case way{ReduceScatter, HalvingDoubling}:
		b.circulantScatter(l)
	case way{ReduceScatter, Hier}:
		b.hierReduceScatter(l)
	case way{AllGather, Ring}, way{AllGather, BiRing}:
		b.ringGather()
	case way{AllGather, Direct}:
		b.directAllGather(l)
	case way{AllGather, Doubling}:
		b.circulantGather(l)
	case way{AllGather, Hier}:
		b.hierAllGather(l)
	case way{Broadcast, Ring}, way{Broadcast, BiRing}:
		b.chainBroadcast()
	case way{Broadcast, Direct}:
		b.directBroadcast(l)
	case way{Broadcast, Tree}:
		b.treeBroadcast(l)
	case way{Broadcast, Cable}:
		b.broadcastAlong(l, b.cableNode(b.Root))
	case way{Broadcast, Hier}:
		b.broadcastAlong(l, b.hierNode())
	case way{Reduce, Ring}:
		b.chainReduce(l)
	case way{Reduce, Direct}:
		b.directReduce(l)
	case way{Reduce, Tree}:
		b.treeReduce(l)
	case way{Reduce, Cable}:
		b.reduceAlong(l, b.cableNode(b.Root))
	case way{Reduce, Hier}:
		b.reduceAlong(l, b.hierNode())
	case way{Gather, Tree}:
		b.treeGather(l)
	case way{Gather, Direct}:
		b.directGather(l)
	case way{Scatter, Tree}:
		b.treeScatter(l)
	case way{Scatter, Direct}:
		b.directScatter(l)
	case way{AllToAll, Direct}:
		b.pairwise(l)
	case way{Barrier, Direct}:
		b.greet(l)
	case way{Barrier, Doubling}:
		b.dissemination(l)
	case way{Barrier, Tree}:
		b.treeBarrier(l)
	case way{Barrier, Hier}:
		b.hierBarrier(l)
	case way{Send, Direct}:
		l.send(b.Root, Slice{b.source, 0, b.Count})
	case way{Recv, Direct}:
		l.recv(b.Root, Slice{Main, 0, b.Count})
	case way{SendRecv, Direct}:
		b.sendRecv(l)
	}
}

// empty says whether there is nothing to reduce or to gather.
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
func (b *builder) greet(l *lane) {
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

// A lane is a list of actions under construction.
type lane struct{ actions []Action }

func (l *lane) send(peer int, src Slice) {
	l.actions = append(l.actions, Action{Step: SendStep, Peer: peer, Src: src})
}

// sendPinned is a send that stays behind the actions before it.
func (l *lane) sendPinned(peer int, src Slice) {
	l.actions = append(l.actions, Action{Step: SendStep, Peer: peer, Src: src, Pinned: true})
}

func (l *lane) recv(peer int, dst Slice) {
	l.actions = append(l.actions, Action{Step: RecvStep, Peer: peer, Dst: dst})
}

// recvReduce sets dst = arg op incoming.
func (l *lane) recvReduce(peer int, dst, arg Slice, final bool) {
	l.actions = append(l.actions, Action{
		Step: RecvReduceStep, Peer: peer, Dst: dst, Arg: arg, Final: final,
	})
}

// recvBefore sets dst = incoming op arg.
func (l *lane) recvBefore(peer int, dst, arg Slice, final bool) {
	l.actions = append(l.actions, Action{
		Step: RecvReduceStep, Peer: peer, Dst: dst, Arg: arg, IncomingFirst: true, Final: final,
	})
}

// reduce sets dst = left op right.
func (l *lane) reduce(dst, left, right Slice, final bool) {
	l.actions = append(l.actions, Action{
		Step: ReduceStep, Dst: dst, Arg: left, Src: right, Final: final,
	})
}

func (l *lane) copy(dst, src Slice) {
	l.actions = append(l.actions, Action{Step: CopyStep, Dst: dst, Src: src})
}
