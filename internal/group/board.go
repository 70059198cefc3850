package group

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
func (g *Group) execute(r *Request, plan *collective.Plan, done head) error {
	switch {
	case done == headShown:
		return plan.Take(g.ctx, g.board, &g.tag, r.Recv, r.Send)
	case done != headless:
		err := plan.Fetch(g.ctx, g.swapper, &g.tag, r.Recv, r.Send, done == headGone)
		if err != nil && done == headPosted {
			g.links.Failed(err) // which ends g.ctx: the link has to give the buffer back
			_ = g.swapper.Await(g.ctx, 0)
		}
		return err
	case g.fitsBoard(r, plan):
		if err := plan.Show(g.ctx, g.board, &g.tag, r.Recv, r.Send); err != nil {
			return err
		}
		return plan.Take(g.ctx, g.board, &g.tag, r.Recv, r.Send)
	}
	g.pages.Used(r.Recv)
	g.pages.Used(r.Send)
	if g.census.commons && r.Algo == collective.Auto && plan.Pools(g.census.reads) {
		return g.exec.RunCommons(g.ctx, plan, &g.tag, r.Recv, r.Send)
	}
	return g.exec.Run(g.ctx, plan, &g.tag, r.Recv, r.Send)
}

// fitsBoard reports whether an operation is done on the group's board.
func (g *Group) fitsBoard(r *Request, plan *collective.Plan) bool {
	return r.Algo == collective.Auto && g.hasRoom(r.Kind, plan.Shown())
}

// hasRoom reports whether there is a board, and what a rank shows there fits it, and is not
// better read where it lies.
func (g *Group) hasRoom(k collective.Kind, shown int) bool {
	if g.board == nil || shown < 0 || shown > g.board.Room() {
		return false
	}
	return k != collective.Broadcast || !g.reads(k, shown)
}

// reads reports whether ranks are sure to read an operation's data from each other's memory.
func (g *Group) reads(k collective.Kind, bytes int) bool {
	_, sure := collective.Pools(k, len(g.cfg.Ranks), bytes, g.census.reads)
	return sure
}

// early does the head of an operation if nothing has to be waited for.
func (g *Group) early(r *Request, plan *collective.Plan) (head, error) {
	if g.board == nil {
		return g.postEarly(r, plan)
	}
	return g.showEarly(r, plan)
}

// showEarly shows this rank's part of an operation that is done on the board.
func (g *Group) showEarly(r *Request, plan *collective.Plan) (head, error) {
	if !g.fitsBoard(r, plan) || !g.board.Free() {
		return headless, nil
	}
	return headShown, plan.Show(g.ctx, g.board, &g.tag, r.Recv, r.Send)
}

// postEarly posts what the other one of two ranks gets, if the plan needs no executor.
func (g *Group) postEarly(r *Request, plan *collective.Plan) (head, error) {
	peer, longest := plan.Swap()
	if peer < 0 || longest > g.short && !g.findSwapper(peer, longest) {
		return headless, nil
	}
	gone, err := plan.Post(g.swapper, &g.tag, r.Recv, r.Send)
	if gone {
		return headGone, err
	}
	return headPosted, err
}

// findSwapper looks whether the link of two ranks is a Swapper, if it is open and nobody
// has looked, and reports whether a message of n bytes is short there.
func (g *Group) findSwapper(peer, n int) bool {
	if g.swapper == nil {
		if s, ok := g.links.opened(peer).(fabric.Swapper); ok {
			g.swapper, g.short = s, s.Short()
		}
	}
	return n <= g.short
}
