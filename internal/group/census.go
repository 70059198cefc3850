package group

import (
	"context"

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
	for i := range g.cfg.Ranks { // in order, so that no ring of ranks waits for each other
		if i == g.cfg.Rank {
			continue
		}
		if _, err := g.links.Link(ctx, i); err != nil {
			return err
		}
	}
	crowded, err := c.crowded(ctx, a)
	if err != nil {
		return err
	}
	memory, err := g.cfg.Fabric.Memory(ctx, g.links.channel, g.cfg.Ranks)
	if err != nil {
		return err
	}
	g.exec.Share(memory, crowded)
	return nil
}

// crowded reports whether any rank of the group finds that ranks outnumber processors.
func (c *census) crowded(ctx context.Context, a call) (bool, error) {
	g := c.group
	roomy := []byte{1}
	if g.cfg.Crowded {
		roomy[0] = 0
	}
	spec := collective.Spec{Kind: collective.AllReduce, Algo: collective.Direct, Rank: g.cfg.Rank, Size: len(g.cfg.Ranks), Count: len(roomy)}
	plan, err := g.plans.planner.Plan(spec, reduce.U8, reduce.Min)
	if err != nil {
		return false, err
	}
	tag := a.tag()
	if err := g.exec.Run(ctx, plan, &tag, roomy, nil); err != nil {
		return false, err
	}
	return roomy[0] == 0, nil
}
