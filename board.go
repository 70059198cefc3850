package thunder

import "thundercollective/collective"

// execute runs a plan: on the group's board if it is short, where this rank may have
// shown its part before; in the ranks' own memory if that is possible and pays. All
// ranks decide alike: it depends on what they have to agree on anyway.
func (c *Comm) execute(r *Request, plan *collective.Plan, shown bool) error {
	if shown || c.fitsBoard(r, plan) {
		if !shown {
			if err := plan.Show(c.ctx, c.board, &c.tag, r.Recv, r.Send); err != nil {
				return err
			}
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

// showEarly shows this rank's part of an operation if that is done on the board and
// nothing has to be waited for.
func (c *Comm) showEarly(r *Request, plan *collective.Plan) (shown bool, err error) {
	if !c.fitsBoard(r, plan) || !c.board.Free() {
		return false, nil
	}
	return true, plan.Show(c.ctx, c.board, &c.tag, r.Recv, r.Send)
}
