package collective

import "fmt"

// A Schedule is what one rank does in one collective.
//
// The lanes run concurrently and touch disjoint ranges; the actions of a lane
// run in order. At most one lane sends to a given peer, and at most one receives
// from it. Messages between two ranks match in order.
//
// Sends are asynchronous: the action posts the message, and the range stays
// borrowed until the peer has taken it. Receives block. Before an action writes
// a range, the executor waits for the pending sends of the same rank that overlap
// it (the hazard rule). Schedules do not deadlock even where a
// send ends only once the peer receives it.
type Schedule struct {
	Lanes [][]Action

	// Main, Input and Scratch are the least lengths of the buffers, in elements.
	Main, Input, Scratch int
}

// A Step is what an Action does.
type Step uint8

// The steps. Only Send and those that receive involve a peer.
const (
	// SendStep posts Src to Peer.
	SendStep Step = 1 + iota
	// RecvStep receives Dst from Peer.
	RecvStep
	// RecvReduceStep receives from Peer and sets Dst = Arg op incoming.
	RecvReduceStep
	// CopyStep sets Dst = Src.
	CopyStep
	// ReduceStep sets Dst = Arg op Src.
	ReduceStep
)

func (s Step) String() string {
	switch s {
	case SendStep:
		return "send"
	case RecvStep:
		return "recv"
	case RecvReduceStep:
		return "recv+reduce"
	case CopyStep:
		return "copy"
	case ReduceStep:
		return "reduce"
	}
	return fmt.Sprintf("step(%d)", uint8(s))
}

// An Action is one step of a lane. Its slices all have the same length; those
// that a step does not use are empty. Dst of a reduction is exactly Arg or Src,
// or disjoint from them.
type Action struct {
	Step Step

	// IncomingFirst swaps the operands: Dst = incoming op Arg.
	IncomingFirst bool
	// Final says that Dst now holds the contributions of all ranks, so this is
	// the one place where an average divides. Only on reducing steps.
	Final bool
	// Pinned keeps Segmented from moving a send forward: because it would put too
	// much in flight at once, or because its being sent is the message.
	Pinned bool

	Peer          int
	Dst, Src, Arg Slice
}

// Receives reports whether the action waits for a message.
func (a *Action) Receives() bool { return a.Step == RecvStep || a.Step == RecvReduceStep }

// Len is the number of elements that the action moves or combines.
func (a *Action) Len() int {
	if a.Step == SendStep {
		return a.Src.Len
	}
	return a.Dst.Len
}

// A Buffer is one of the memories that a schedule works on.
type Buffer uint8

const (
	// Main holds the result, and the contribution unless Spec.Separate is set.
	Main Buffer = iota
	// Input holds the contribution if Spec.Separate is set; it is only read.
	Input
	// Scratch belongs to the executor. Its contents do not outlive the schedule.
	Scratch
)

func (b Buffer) String() string {
	switch b {
	case Main:
		return "main"
	case Input:
		return "input"
	case Scratch:
		return "scratch"
	}
	return fmt.Sprintf("buffer(%d)", uint8(b))
}

// A Slice is a range of a Buffer, in elements.
type Slice struct {
	Buf      Buffer
	Off, Len int
}

// End is the first offset after the slice.
func (s Slice) End() int { return s.Off + s.Len }

// Overlaps reports whether s and t share an element.
func (s Slice) Overlaps(t Slice) bool {
	return s.Buf == t.Buf && s.Off < t.End() && t.Off < s.End() && s.Len > 0 && t.Len > 0
}

func (s Slice) String() string { return fmt.Sprintf("%v[%d:%d]", s.Buf, s.Off, s.End()) }

// cut returns the part [from,to) of s, and an unused slice as it is.
func (s Slice) cut(from, to int) Slice {
	if s.Len == 0 {
		return s
	}
	return Slice{s.Buf, s.Off + from, to - from}
}
