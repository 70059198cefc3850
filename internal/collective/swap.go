package collective

import (
	"context"
	"fmt"

	"thundercollective/fabric"
	"thundercollective/internal/reduce"
)

// A swap is a plan in which a rank sends one message at most, receives one at most, and
// does nothing else that anybody waits for. It needs no executor. The messages are those
// of the schedule, so whether the peer does it this way or by an executor is all the same.
type swap struct {
	peer    int
	longest int // message, in bytes

	sends, receives, reduces bool

	out           area // what is sent
	in            area // where what is received goes, or its combination with arg
	arg           area
	incomingFirst bool
	divide        bool
	copies        []copying
}

// An area is a range of a buffer that is not scratch, in bytes.
type area struct {
	input    bool
	from, to int
}

// A copying is done at any time after the message was sent.
type copying struct{ dst, src area }

// swapOf finds out whether a schedule of two ranks is a swap; nil if it is not. What is
// received must not be waited for by anything but a copy that puts it in its place.
func (p *Plan) swapOf() *swap {
	if p.spec.Size != 2 || len(p.lanes) != 1 {
		return nil
	}
	w := &swap{peer: 1 - p.spec.Rank}
	var received, arg Slice
	for i := range p.lanes[0].actions {
		a := &p.lanes[0].actions[i]
		switch {
		case a.Step == SendStep && i == 0 && a.Src.Buf != Scratch:
			w.sends, w.out = true, p.area(a.Src)
		case a.Receives() && !w.receives:
			w.receives, w.reduces = true, a.Step == RecvReduceStep
			w.incomingFirst, w.divide = a.IncomingFirst, a.Final && p.divide
			received, arg = a.Dst, a.Arg
		case a.Step == CopyStep && !w.receives && a.Dst.Buf != Scratch && a.Src.Buf != Scratch:
			w.copies = append(w.copies, copying{p.area(a.Dst), p.area(a.Src)})
		case a.Step == CopyStep && w.receives && a.Src == received && received.Buf == Scratch:
			received = a.Dst // right away: by then the message has left
		default:
			return nil
		}
	}
	if received.Buf == Scratch || arg.Buf == Scratch || arg.Overlaps(received) && arg != received {
		return nil
	}
	w.in, w.arg = p.area(received), p.area(arg)
	w.longest = max(w.out.to-w.out.from, w.in.to-w.in.from)
	return w
}

// area returns a slice that is not scratch in bytes.
func (p *Plan) area(s Slice) area { return area{s.Buf == Input, s.Off * p.elem, s.End() * p.elem} }

// of returns the memory of an area.
func (a *area) of(main, input []byte) []byte {
	if a.input {
		main = input
	}
	return main[a.from:a.to]
}

// Swap returns with whom the plan exchanges one message at most each way, and the length
// of the longer one in bytes; -1 if it does something else. Such a plan can be run by
// Post and Fetch instead of an Executor.
func (p *Plan) Swap() (peer, longest int) {
	if p.swap == nil {
		return -1, -1
	}
	return p.swap.peer, p.swap.longest
}

// Post does the first half of a plan that is a Swap: it posts what the peer is to get,
// and says whether that has left already. Fetch does the rest. tag, main and input are
// those of Executor.Run; an error is a *StepError, unless the buffers are too short, and
// ends the use of the link.
func (p *Plan) Post(l fabric.Swapper, tag *fabric.Tag, main, input []byte) (gone bool, err error) {
	if len(main) < p.main || len(input) < p.input {
		return false, p.tooShort(main, input)
	}
	w := p.swap
	if !w.sends {
		return true, nil
	}
	if gone, err = l.Post(tag, w.out.of(main, input)); err != nil {
		return false, p.swapError(SendStep, err)
	}
	return gone, nil
}

// Fetch does the second half: it receives what the peer sends, and does with it what is
// to be done. gone is what Post has said. If it is false, and Fetch fails, the message
// may still be with the link.
func (p *Plan) Fetch(ctx context.Context, l fabric.Swapper, tag *fabric.Tag, main, input []byte, gone bool) error {
	w := p.swap
	var got []byte
	if w.receives {
		var err error
		if got, err = l.Take(ctx, tag, w.in.to-w.in.from); err != nil {
			return p.swapError(RecvStep, err)
		}
	}
	if !gone {
		if err := l.Await(ctx, 0); err != nil {
			return p.swapError(SendStep, err)
		}
	}
	if len(w.copies) > 0 {
		w.copy(main, input)
	}
	dst := w.in.of(main, input)
	if !w.reduces {
		copy(dst, got)
		return nil
	}
	if arg := w.arg.of(main, input); w.incomingFirst {
		p.kernel(dst, got, arg)
	} else {
		p.kernel(dst, arg, got)
	}
	if w.divide {
		reduce.Divide(p.dtype, dst, dst, p.spec.Size)
	}
	return nil
}

// copy makes the copies.
func (w *swap) copy(main, input []byte) {
	for i := range w.copies {
		c := &w.copies[i]
		copy(c.dst.of(main, input), c.src.of(main, input))
	}
}

// swapError says at which action of a swap it failed.
func (p *Plan) swapError(s Step, err error) error {
	e := &StepError{Kind: p.spec.Kind, Algo: p.spec.Algo, Step: s, Peer: p.swap.peer, Err: err}
	for i := range p.lanes[0].actions {
		if a := &p.lanes[0].actions[i]; a.Step == s || s == RecvStep && a.Receives() {
			e.Step, e.Action = a.Step, i
		}
	}
	return e
}

// tooShort says what buffers the plan needs.
func (p *Plan) tooShort(main, input []byte) error {
	return fmt.Errorf("collective: %v needs %d bytes and an input of %d, got %d and %d", p.spec.Kind, p.main, p.input, len(main), len(input))
}
