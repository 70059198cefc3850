package thunder

import (
	"context"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
)

// A census is what the ranks of a group have found out together about the machine
// they share. Groups that span machines have none.
type census struct {
	taken   bool
	commons bool // all pairs share memory
	reads   bool // all pairs can read each other's memory
	crowded bool // ranks outnumber processors
}

// due says whether the census comes before operation r: once, before the first one
// that leaves a choice. All ranks decide alike.
func (s *census) due(c *Comm, r *Request) bool {
	return !s.taken && r.Algo == Auto && c.job.algo == Auto && len(c.ranks) > 1
}

// first takes the census as a part of operation a, and settles what algorithms are
// chosen by.
func (c *Comm) first(ctx context.Context, a call) error {
	if ctx.Err() != nil {
		return nil // the operation itself will say so
	}
	c.census.taken = true
	return c.aside(ctx, a, func(ctx context.Context, a call) error {
		if err := c.takeCensus(ctx, a); err != nil {
			return err
		}
		return c.agree(ctx, a)
	})
}

// aside does something in the name of operation a, with its deadline.
func (c *Comm) aside(ctx context.Context, a call, do func(context.Context, call) error) error {
	c.current.beginAside(c, ctx, a, c.job.clock.Now())
	err := do(c.ctx, a)
	c.current.endAside()
	if err != nil {
		return c.explain(err, a)
	}
	return nil
}

// takeCensus asks all ranks of the group.
func (c *Comm) takeCensus(ctx context.Context, a call) error {
	for _, r := range c.ranks {
		if c.job.host(r) != c.job.host(c.ranks[0]) {
			return nil
		}
	}
	const shares, roomy, reads = 0, 1, 2
	votes := []byte{1, 1, 1}
	sharer, _ := c.job.fab.(fabric.Sharer)
	reader, _ := c.job.fab.(fabric.Reader)
	for i, r := range c.ranks { // in order, so that no ring of ranks waits for each other
		if i == c.rank {
			continue
		}
		if _, err := c.paths.Link(ctx, i); err != nil {
			return err
		}
		if sharer == nil || !sharer.Shares(r) {
			votes[shares] = 0
		}
		if reader == nil || !reader.Reads(r) {
			votes[reads] = 0
		}
	}
	if c.job.crowded {
		votes[roomy] = 0
	}
	spec := collective.Spec{Kind: KindAllReduce, Algo: collective.Direct, Rank: c.rank, Size: len(c.ranks), Count: len(votes)}
	plan, err := c.planner.Plan(spec, U8, Min)
	if err != nil {
		return err
	}
	tag := a.tag()
	if err := c.exec.Run(ctx, plan, &tag, votes, nil); err != nil {
		return err
	}
	c.census.commons, c.census.crowded = votes[shares] == 1, votes[roomy] == 0
	c.census.reads = votes[reads] == 1
	if boarder, ok := c.job.fab.(fabric.Boarder); ok && c.census.commons {
		if c.board, err = boarder.Board(ctx, c.paths.channel, c.ranks); err != nil {
			return err
		}
	}
	return nil
}

// Offer makes paths a collective.Commons.
func (p *paths) Offer(b []byte) (h fabric.Handle, mapped bool) {
	fab := p.comm.job.fab
	if h, ok := fab.(fabric.Sharer).Share(b); ok {
		return h, true
	}
	if p.comm.census.reads {
		h, _ = fab.(fabric.Reader).Locate(b)
	}
	return h, false
}

// Reach makes paths a collective.Commons.
func (p *paths) Reach(peer int, h fabric.Handle, n int) ([]byte, error) {
	return p.comm.job.fab.(fabric.Sharer).Reach(p.comm.ranks[peer], h, n)
}

// Read makes paths a collective.Commons.
func (p *paths) Read(peer int, h fabric.Handle, off int, b []byte) error {
	return p.comm.job.fab.(fabric.Reader).Read(p.comm.ranks[peer], h, off, b)
}

// Board makes paths a collective.Commons.
func (p *paths) Board() fabric.Board { return p.comm.board }
