package thunder

import (
	"thundercollective/fabric"
	"thundercollective/internal/collective"
)

// A head is how much of an operation is done before it is recorded.
type head uint8

const (
	headless   head = iota
	headShown       // this rank's part is on the board
	headGone        // what the one peer gets has left, if it gets anything
	headPosted      // what the one peer gets is with the link
)

// execute runs a plan, of which the head may be done: on the group's board if it is short,
// in the ranks' own memory if that is possible and pays. All ranks decide alike: it
// depends on what they have to agree on anyway.
func (c *Comm) execute(r *Request, plan *collective.Plan, done head) error {
	switch {
	case done == headShown:
		return plan.Take(c.ctx, c.board, &c.tag, r.Recv, r.Send)
	case done != headless:
		err := plan.Fetch(c.ctx, c.swapper, &c.tag, r.Recv, r.Send, done == headGone)
		if err != nil && done == headPosted {
			c.paths.Failed(err) // which ends c.ctx: the link has to give the buffer back
			_ = c.swapper.Await(c.ctx, 0)
		}
		return err
	case c.fitsBoard(r, plan):
		if err := plan.Show(c.ctx, c.board, &c.tag, r.Recv, r.Send); err != nil {
			return err
		}
		return plan.Take(c.ctx, c.board, &c.tag, r.Recv, r.Send)
	}
	c.pages.Used(r.Recv)
	c.pages.Used(r.Send)
	if c.census.commons && r.Algo == Auto && plan.Pools(c.census.reads) {
		return c.exec.RunCommons(c.ctx, plan, &c.tag, r.Recv, r.Send)
	}
	return c.exec.Run(c.ctx, plan, &c.tag, r.Recv, r.Send)
}

// fitsBoard says whether an operation is done on the group's board.
func (c *Comm) fitsBoard(r *Request, plan *collective.Plan) bool {
	return r.Algo == Auto && c.hasRoom(r.Kind, plan.Shown())
}

// hasRoom says whether there is a board, and what a rank shows there fits it, and is not
// better read where it lies.
func (c *Comm) hasRoom(k Kind, shown int) bool {
	if c.board == nil || shown < 0 || shown > c.board.Room() {
		return false
	}
	return k != KindBroadcast || !c.reads(k, shown)
}

// reads says whether ranks are sure to read an operation's data from each other's memory.
func (c *Comm) reads(k Kind, bytes int) bool {
	_, sure := collective.Pools(k, len(c.ranks), bytes, c.census.reads)
	return sure
}

// early does the head of an operation if nothing has to be waited for.
func (c *Comm) early(r *Request, plan *collective.Plan) (head, error) {
	if c.board == nil {
		return c.postEarly(r, plan)
	}
	return c.showEarly(r, plan)
}

// showEarly shows this rank's part of an operation that is done on the board.
func (c *Comm) showEarly(r *Request, plan *collective.Plan) (head, error) {
	if !c.fitsBoard(r, plan) || !c.board.Free() {
		return headless, nil
	}
	return headShown, plan.Show(c.ctx, c.board, &c.tag, r.Recv, r.Send)
}

// postEarly posts what the other one of two ranks gets, if the plan needs no executor.
func (c *Comm) postEarly(r *Request, plan *collective.Plan) (head, error) {
	peer, longest := plan.Swap()
	if peer < 0 || longest > c.short && !c.findSwapper(peer, longest) {
		return headless, nil
	}
	gone, err := plan.Post(c.swapper, &c.tag, r.Recv, r.Send)
	if gone {
		return headGone, err
	}
	return headPosted, err
}

// findSwapper looks whether the link of two ranks is a Swapper, if it is open and nobody
// has looked, and says whether a message of n bytes is short there.
func (c *Comm) findSwapper(peer, n int) bool {
	if c.swapper == nil {
		if s, ok := c.paths.opened(peer).(fabric.Swapper); ok {
			c.swapper, c.short = s, s.Short()
		}
	}
	return n <= c.short
}
