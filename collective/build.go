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

func (b *builder) build() {
	l := &b.lanes[0]
	switch b.Kind {
	case AllReduce:
		b.buildAllReduce()
	case ReduceScatter:
		b.buildReduceScatter()
	case AllGather:
		b.buildAllGather()
	case Broadcast:
		b.buildBroadcast()
	case Reduce:
		b.buildReduce()
	case Gather:
		if b.Algo == Tree {
			b.treeGather(l)
		} else {
			b.directGather(l)
		}
	case Scatter:
		if b.Algo == Tree {
			b.treeScatter(l)
		} else {
			b.directScatter(l)
		}
	case AllToAll:
		b.pairwise(l)
	case Barrier:
		switch b.Algo {
		case Direct:
			b.greet(l)
		case Doubling:
			b.dissemination(l)
		case Hier:
			b.hierBarrier(l)
		}
	case Send:
		l.send(b.Root, Slice{b.source, 0, b.Count})
	case Recv:
		l.recv(b.Root, Slice{Main, 0, b.Count})
	case SendRecv:
		b.sendRecv(l)
	}
}

func (b *builder) buildAllReduce() {
	l := &b.lanes[0]
	if b.Count == 0 {
		b.greet(l)
		return
	}
	switch b.Algo {
	case Ring, BiRing:
		b.ringAllReduce()
	case Direct:
		b.directAllReduce(l)
	case Doubling:
		b.doublingAllReduce(l)
	case HalvingDoubling:
		b.circulantAllReduce(l)
	case Tree:
		b.treeAllReduce(l)
	case Cable:
		b.cableAllReduce(l)
	case Mesh:
		b.meshAllReduce(l)
	case Hier:
		b.hierAllReduce(l)
	}
}

func (b *builder) buildReduceScatter() {
	l := &b.lanes[0]
	if total(b.blocks()) == 0 {
		b.greet(l)
		return
	}
	switch b.Algo {
	case Ring, BiRing:
		b.ringScatter()
	case Direct:
		b.directReduceScatter(l)
	case HalvingDoubling:
		b.circulantScatter(l)
	case Hier:
		b.hierReduceScatter(l)
	}
}

func (b *builder) buildAllGather() {
	l := &b.lanes[0]
	if total(b.blocks()) == 0 {
		b.greet(l)
		return
	}
	switch b.Algo {
	case Ring, BiRing:
		b.ringGather()
	case Direct:
		b.directAllGather(l)
	case Doubling:
		b.circulantGather(l)
	case Hier:
		b.hierAllGather(l)
	}
}

func (b *builder) buildBroadcast() {
	switch b.Algo {
	case Ring, BiRing:
		b.chainBroadcast()
	case Direct:
		b.directBroadcast(&b.lanes[0])
	case Tree:
		b.treeBroadcast(&b.lanes[0])
	case Cable:
		b.broadcastAlong(&b.lanes[0], b.cableNode(b.Root))
	case Hier:
		b.broadcastAlong(&b.lanes[0], b.hierNode())
	}
}

func (b *builder) buildReduce() {
	l := &b.lanes[0]
	switch b.Algo {
	case Ring:
		b.chainReduce(l)
	case Direct:
		b.directReduce(l)
	case Tree:
		b.treeReduce(l)
	case Cable:
		b.reduceAlong(l, b.cableNode(b.Root))
	case Hier:
		b.reduceAlong(l, b.hierNode())
	}
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
