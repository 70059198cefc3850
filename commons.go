package thunder

import (
	"context"

	"thundercollective/collective"
	"thundercollective/fabric"
)

// commonsMin is the shortest vector that ranks reduce in each other's buffers: what
// it saves has to be worth a round of messages.
const commonsMin = 16 << 10

// commons says whether the ranks of a group can work in each other's buffers.
type commons int

const (
	commonsUnknown commons = iota
	commonsNo
	commonsYes
)

// inCommon decides how an operation on so many bytes is run. All ranks decide
// alike: it depends on what they have to agree on anyway, and on the roster.
func (c *Comm) inCommon(r *Request, bytes int) bool {
	return r.Kind == KindAllReduce && r.Algo == Auto && c.job.algo == Auto && bytes >= commonsMin && c.commons != commonsNo
}

// agree finds out, once, whether all pairs of the group share memory, before
// operation tag, whose place in the order it shares.
func (c *Comm) agree(ctx context.Context, tag *fabric.Tag) error {
	if c.commons != commonsUnknown {
		return nil
	}
	c.commons = commonsNo
	for _, r := range c.ranks {
		if c.job.host(r) != c.job.host(c.ranks[0]) {
			return nil
		}
	}
	sharer, ok := c.job.fab.(fabric.Sharer)
	if !ok {
		return nil // all ranks of a machine have the same fabric
	}
	vote := []byte{1}
	for i, r := range c.ranks { // in order, so that no ring of ranks waits for each other
		if i == c.rank {
			continue
		}
		if _, err := c.paths.Link(ctx, i); err != nil {
			return err
		}
		if !sharer.Shares(r) {
			vote[0] = 0
		}
	}
	spec := collective.Spec{Kind: KindAllReduce, Algo: collective.Direct, Rank: c.rank, Size: len(c.ranks), Count: 1}
	plan, err := c.planner.Plan(spec, U8, Min)
	if err != nil {
		return err
	}
	if err := c.exec.Run(ctx, plan, tag, vote, nil); err != nil {
		return err
	}
	if vote[0] == 1 {
		c.commons = commonsYes
	}
	return nil
}

// execute runs a plan, in the ranks' own buffers if that is possible.
func (c *Comm) execute(ctx context.Context, r *Request, plan *collective.Plan, tag *fabric.Tag) error {
	if !c.inCommon(r, len(r.Recv)) {
		return c.exec.Run(ctx, plan, tag, r.Recv, r.Send)
	}
	if err := c.agree(ctx, tag); err != nil {
		return err
	}
	if c.commons == commonsNo {
		return c.exec.Run(ctx, plan, tag, r.Recv, r.Send)
	}
	return c.exec.RunCommons(ctx, plan, tag, r.Recv, r.Send)
}

// Offer makes paths a collective.Commons.
func (p *paths) Offer(b []byte) (fabric.Handle, bool) {
	return p.comm.job.fab.(fabric.Sharer).Share(b)
}

// Reach makes paths a collective.Commons.
func (p *paths) Reach(peer int, h fabric.Handle, n int) ([]byte, error) {
	return p.comm.job.fab.(fabric.Sharer).Reach(p.comm.ranks[peer], h, n)
}
