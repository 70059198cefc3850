package group

import (
	"context"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
	"thundercollective/internal/reduce"
)

// A census is what the ranks of a group find out together, as a part of their first
// operation: what they share if all of them are on one machine, and what they choose
// algorithms by.
type census struct {
	group *Group
	taken bool
}

// due reports whether the census comes before operation r: once, before the first
// one that leaves a choice. All ranks come to the same result.
func (c *census) due(r *Request) bool {
	g := c.group
	return !c.taken && r.Algo == collective.Auto && g.cfg.Tuning.Algo == collective.Auto && len(g.cfg.Ranks) > 1
}

// first takes the census as a part of operation a, and settles what algorithms are
// chosen by.
func (c *census) first(ctx context.Context, a call) error {
	g := c.group
	if ctx.Err() != nil {
		return nil // the operation itself will say so
	}
	c.taken = true
	return g.aside(ctx, a, func(ctx context.Context, a call) error {
		if err := c.take(ctx, a); err != nil {
			return err
		}
		g.chooser.Crowded, g.chooser.Shared = g.exec.Crowded(), g.exec.Shares()
		model, err := g.cfg.Tuning.Agree(ctx, lab{g, a.tag()}, g.cfg.Hosts)
		g.chooser.Model = model
		return err
	})
}

// aside does something in the name of operation a, with its deadline.
func (g *Group) aside(ctx context.Context, a call, do func(context.Context, call) error) error {
	g.current.beginAside(g, ctx, a, g.cfg.Clock.Now())
	err := do(g.ctx, a)
	g.current.endAside()
	if err != nil {
		return g.explain(err, a)
	}
	return nil
}

// take finds out, together with the other ranks of the group, what they share if
// all of them are on one machine, and tells the executor.
func (c *census) take(ctx context.Context, a call) error {
	g := c.group
	if g.cfg.Hosts.Count() > 1 {
		return nil
	}
	shared := collective.Shared{Ranks: g.cfg.Ranks, RoundTrips: true}
	const shares, roomy, reads = 0, 1, 2
	votes := []byte{1, 1, 1}
	sharer, _ := g.cfg.Fabric.(fabric.Sharer)
	reader, _ := g.cfg.Fabric.(fabric.Reader)
	for i, r := range g.cfg.Ranks { // in order, so that no ring of ranks waits for each other
		if i == g.cfg.Rank {
			continue
		}
		link, err := g.links.Link(ctx, i)
		if err != nil {
			return err
		}
		if sharer == nil || !sharer.Shares(r) {
			votes[shares] = 0
		}
		if reader == nil || !reader.Reads(r) {
			votes[reads] = 0
		}
		_, ok := link.(fabric.RoundTripper)
		shared.RoundTrips = shared.RoundTrips && ok
	}
	if g.cfg.Crowded {
		votes[roomy] = 0
	}
	spec := collective.Spec{Kind: collective.AllReduce, Algo: collective.Direct, Rank: g.cfg.Rank, Size: len(g.cfg.Ranks), Count: len(votes)}
	plan, err := g.plans.planner.Plan(spec, reduce.U8, reduce.Min)
	if err != nil {
		return err
	}
	tag := a.tag()
	if err := g.exec.Run(ctx, plan, &tag, votes, nil); err != nil {
		return err
	}
	shared.Crowded = votes[roomy] == 0
	if votes[shares] == 1 {
		shared.Memory, shared.Reads = sharer, votes[reads] == 1
		if boarder, ok := g.cfg.Fabric.(fabric.Boarder); ok {
			if shared.Board, err = boarder.Board(ctx, g.links.channel, g.cfg.Ranks); err != nil {
				return err
			}
		}
	}
	g.exec.Share(shared)
	return nil
}
