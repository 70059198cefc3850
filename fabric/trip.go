package fabric

import "context"

// A RoundTripper is a Link whose ends work on data of each other where it lies: what one
// lends, the other changes and hands back. That takes the processors fewer cache lines to
// and fro than two messages do.
type RoundTripper interface {
	Link
	// RoundTrip does t. Both ends have to call it alike, with the same tag: Out of the
	// one is In of the other. It is like a message to the calls before and after it, and
	// its errors are those of a Link.
	RoundTrip(ctx context.Context, tag *Tag, t *Trip) error
}

// A Trip is what an end of a RoundTripper does. The functions are called for one piece
// after the other, in order, with where it begins; the pieces of one end cover all its
// bytes. They are called from within RoundTrip, and the pieces are valid until they
// return.
type Trip struct {
	Out, In int                     // bytes that are lent to the peer, and that it lends
	Lend    func(off int, p []byte) // fills p with what is lent
	Work    func(off int, p []byte) // changes what the peer has lent
	Back    func(off int, p []byte) // gets what was lent as the peer leaves it
}
