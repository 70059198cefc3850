package group

import (
	"context"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
	"thundercollective/internal/reduce"
)

// A census is what the ranks of a group have found out together about the machine
// they share. Groups that span machines have none.
type census struct {
	taken   bool
	commons bool // all pairs share memory
	reads   bool // all pairs can read each other's memory
	crowded bool // ranks outnumber processors
}

// due reports whether the census comes before operation r: once, before the first one
// that leaves a choice. All ranks decide alike.
func (s *census) due(g *Group, r *Request) bool {
	return !s.taken && r.Algo == collective.Auto && g.cfg.Tuning.Algo == collective.Auto && len(g.cfg.Ranks) > 1
}

// first takes the census as a part of operation a, and settles what algorithms are
// chosen by.
func (g *Group) first(ctx context.Context, a call) error {
	if ctx.Err() != nil {
		return nil // the operation itself will say so
	}
	g.census.taken = true
	return g.aside(ctx, a, func(ctx context.Context, a call) error {
		if err := g.takeCensus(ctx, a); err != nil {
			return err
		}
		g.chooser.Crowded, g.chooser.Shared = g.census.crowded, g.census.commons
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

// takeCensus asks all ranks of the group.
func (g *Group) takeCensus(ctx context.Context, a call) error {
	if g.cfg.Hosts.Count() > 1 {
		return nil
	}
	const shares, roomy, reads = 0, 1, 2
	votes := []byte{1, 1, 1}
	sharer, _ := g.cfg.Fabric.(fabric.Sharer)
	reader, _ := g.cfg.Fabric.(fabric.Reader)
	for i, r := range g.cfg.Ranks { // in order, so that no ring of ranks waits for each other
		if i == g.cfg.Rank {
			continue
		}
		if _, err := g.links.Link(ctx, i); err != nil {
			return err
		}
		if sharer == nil || !sharer.Shares(r) {
			votes[shares] = 0
		}
		if reader == nil || !reader.Reads(r) {
			votes[reads] = 0
		}
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
	g.census.commons, g.census.crowded = votes[shares] == 1, votes[roomy] == 0
	g.census.reads = votes[reads] == 1
	if boarder, ok := g.cfg.Fabric.(fabric.Boarder); ok && g.census.commons {
		if g.board, err = boarder.Board(ctx, g.links.channel, g.cfg.Ranks); err != nil {
			return err
		}
	}
	return nil
}

// Offer makes links a collective.Commons.
func (p *links) Offer(b []byte) (h fabric.Handle, mapped bool) {
	fab := p.group.cfg.Fabric
	if h, ok := fab.(fabric.Sharer).Share(b); ok {
		return h, true
	}
	if p.group.census.reads {
		h, _ = fab.(fabric.Reader).Locate(b)
	}
	return h, false
}

// Reach makes links a collective.Commons.
func (p *links) Reach(peer int, h fabric.Handle, n int) ([]byte, error) {
	return p.group.cfg.Fabric.(fabric.Sharer).Reach(p.group.cfg.Ranks[peer], h, n)
}

// Read makes links a collective.Commons.
func (p *links) Read(peer int, h fabric.Handle, off int, b []byte) error {
	return p.group.cfg.Fabric.(fabric.Reader).Read(p.group.cfg.Ranks[peer], h, off, b)
}

// Board makes links a collective.Commons.
func (p *links) Board() fabric.Board { return p.group.board }
