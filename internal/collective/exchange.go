package collective

import (
	"context"
	"fmt"

	"thundercollective/fabric"
	"thundercollective/internal/reduce"
)

// An exchange is a plan of two ranks in which a rank sends at most one message, receives
// at most one, and does nothing else that anybody waits for. It needs no lanes. The
// messages are those of the schedule, so the peer cannot tell whether this
// rank takes this path or that of the messages.
type exchange struct {
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

// exchangeOf returns the exchange that a plan of two ranks amounts to; nil if it does
// more. Nothing may wait for what is received except a copy that puts it in its place.
func (p *Plan) exchangeOf() *exchange {
	if p.spec.Size != 2 || len(p.lanes) != 1 {
		return nil
	}
	w := &exchange{peer: 1 - p.spec.Rank}
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

// post is the first half of an exchange: it posts what the peer is to receive, and
// reports whether that has left already. fetch does the rest. An error is a *StepError,
// unless the buffers are too short, and makes the link unusable.
func (p *Plan) post(l fabric.Link, tag *fabric.Tag, main, input []byte) (gone bool, err error) {
	if len(main) < p.main || len(input) < p.input {
		return false, p.tooShort(main, input)
	}
	w := p.exchange
	if !w.sends {
		return true, nil
	}
	if gone, err = l.Post(tag, w.out.of(main, input)); err != nil {
		return false, p.exchangeError(SendStep, err)
	}
	return gone, nil
}

// fetch is the second half: it receives what the peer sends, and stores or reduces it.
// gone is what post has returned. If it is false and fetch fails, the link may still have
// the message that was posted.
func (p *Plan) fetch(ctx context.Context, l fabric.Link, tag *fabric.Tag, main, input []byte, gone bool) error {
	w := p.exchange
	var got []byte
	if w.receives {
		var err error
		if got, err = l.Take(ctx, tag, w.in.to-w.in.from); err != nil {
			return p.exchangeError(RecvStep, err)
		}
	}
	if !gone {
		if err := l.Await(ctx, 0); err != nil {
			return p.exchangeError(SendStep, err)
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
func (w *exchange) copy(main, input []byte) {
	for i := range w.copies {
		c := &w.copies[i]
		copy(c.dst.of(main, input), c.src.of(main, input))
	}
}

// exchangeError returns the error of an exchange, with the action at which it failed.
func (p *Plan) exchangeError(s Step, err error) error {
	e := &StepError{Kind: p.spec.Kind, Algo: p.spec.Algo, Step: s, Peer: p.exchange.peer, Err: err}
	for i := range p.lanes[0].actions {
		if a := &p.lanes[0].actions[i]; a.Step == s || s == RecvStep && a.Receives() {
			e.Step, e.Action = a.Step, i
		}
	}
	return e
}

// tooShort returns the error of buffers that are too short.
func (p *Plan) tooShort(main, input []byte) error {
	return fmt.Errorf("collective: %v needs %d bytes and an input of %d, got %d and %d", p.spec.Kind, p.main, p.input, len(main), len(input))
}
