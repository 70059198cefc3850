package collective

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
