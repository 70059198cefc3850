package group

import (
	"fmt"
	"math/bits"
	"slices"

	"thundercollective/internal/collective"
	"thundercollective/internal/reduce"
)

// A Request is one operation in terms of bytes. It has the fields of the Request of the
// public API, which says what each operation needs, so that one converts to the other.
type Request struct {
	Kind       collective.Kind
	DType      reduce.DType
	Op         reduce.Op       // reductions only
	Algo       collective.Algo // collective.Auto: the Comm's choice
	Root       int             // root of the operation, or the peer of Send, Recv and SendRecv
	From       int             // the sender in SendRecv
	Send, Recv []byte
	SendCounts []int
	RecvCounts []int
	Varying    bool // the v-form: ranks' parts may differ in length
}

// check validates a request for one rank of a group of n, and returns how many
// elements it is about: what all ranks have to agree on.
func (r *Request) check(rank, n int) (count int, err error) {
	if r.Kind == collective.Barrier {
		return 0, nil
	}
	if !r.DType.Valid() {
		return 0, fmt.Errorf("%v: no element type", r.Kind)
	}
	if r.Kind.Reduces() {
		if _, err := reduce.Lookup(r.DType, r.Op); err != nil {
			return 0, fmt.Errorf("%v: %w", r.Kind, err)
		}
	}
	if (r.Kind.Rooted() || r.Kind.PointToPoint()) && (r.Root < 0 || r.Root >= n) {
		return 0, fmt.Errorf("%v: rank %d is not in the group of %d ranks", r.Kind, r.Root, n)
	}
	size := r.DType.Size() // a power of two
	shift := bits.TrailingZeros8(uint8(size))
	if (len(r.Send)|len(r.Recv))&(size-1) != 0 {
		return 0, fmt.Errorf("%v: buffers of %d and %d bytes do not hold whole %v elements", r.Kind, len(r.Send), len(r.Recv), r.DType)
	}
	send, recv := len(r.Send)>>shift, len(r.Recv)>>shift
	bad := func(what string, have, want int) (int, error) {
		return 0, fmt.Errorf("%v on %d ranks: the %s buffer has %d elements, it needs %d", r.Kind, n, what, have, want)
	}
	switch {
	case r.Kind.GivesBlocks() && r.Kind.GetsBlocks():
		return r.checkBothWays(send, recv, rank, n)
	case r.Kind.GivesBlocks():
		switch {
		case !r.Kind.Gives(rank, r.Root):
		case r.Varying && !r.Kind.Reduces():
			return r.checkCounts("send", r.SendCounts, send, recv, rank, n)
		case send != n*recv:
			return bad("send", send, n*recv)
		}
		return recv, nil
	case r.Kind.GetsBlocks():
		switch {
		case !r.Kind.Gets(rank, r.Root):
		case r.Varying:
			return r.checkCounts("receive", r.RecvCounts, recv, send, rank, n)
		case recv != n*send:
			return bad("receive", recv, n*send)
		}
		return send, nil
	case r.Kind.PointToPoint():
		if r.Kind == collective.SendRecv && (r.From < 0 || r.From >= n) {
			return 0, fmt.Errorf("%v: rank %d is not in the group of %d ranks", r.Kind, r.From, n)
		}
		if r.Kind.Gives(rank, r.Root) {
			return send, nil
		}
	case !r.Kind.Valid():
		return 0, fmt.Errorf("unknown operation %v", r.Kind)
	case r.Kind.Reduces() && r.Send != nil && send != recv:
		return bad("receive", recv, send)
	}
	return recv, nil
}

// checkBothWays is check for an operation in which every rank sends a block to, and
// receives one from, each rank.
func (r *Request) checkBothWays(send, recv, rank, n int) (count int, err error) {
	if r.Varying {
		if _, err := r.checkCounts("send", r.SendCounts, send, -1, rank, n); err != nil {
			return 0, err
		}
		if _, err := r.checkCounts("receive", r.RecvCounts, recv, -1, rank, n); err != nil {
			return 0, err
		}
		if s, d := r.SendCounts[rank], r.RecvCounts[rank]; s != d {
			return 0, fmt.Errorf("%v: this rank sends itself %d elements but receives %d", r.Kind, s, d)
		}
		return 0, nil
	}
	if send != recv || send%n != 0 {
		return 0, fmt.Errorf("%v on %d ranks: send buffer of %d and receive buffer of %d elements: they must be equal and divisible by %d", r.Kind, n, send, recv, n)
	}
	return send / n, nil
}

// checkCounts validates a list of counts against the buffer it describes, and
// this rank's own entry against its own part (-1: not known).
func (r *Request) checkCounts(what string, counts []int, have, own, rank, n int) (int, error) {
	if len(counts) != n {
		return 0, fmt.Errorf("%v: %d %s counts for %d ranks", r.Kind, len(counts), what, n)
	}
	sum := 0
	for i, c := range counts {
		if c < 0 {
			return 0, fmt.Errorf("%v: %s count of rank %d is %d", r.Kind, what, i, c)
		}
		sum += c
	}
	if sum != have {
		return 0, fmt.Errorf("%v: %s counts add up to %d elements, the buffer has %d", r.Kind, what, sum, have)
	}
	if own >= 0 && counts[rank] != own {
		return 0, fmt.Errorf("%v: the %s count of this rank (%d) is %d, its buffer has %d elements", r.Kind, what, rank, counts[rank], own)
	}
	return sum, nil
}

// clone copies what an asynchronous operation needs after its call has returned.
func (r *Request) clone() *Request {
	c := *r
	c.SendCounts = slices.Clone(r.SendCounts)
	c.RecvCounts = slices.Clone(r.RecvCounts)
	return &c
}
