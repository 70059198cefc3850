package thunder

import (
	"context"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
)

// censusDue reports whether the census comes before operation r: once, before the first
// one that leaves a choice. All ranks come to the same result.
func (c *Comm) censusDue(r *Request) bool {
	return !c.counted && r.Algo == Auto && c.job.algo == Auto && len(c.ranks) > 1
}

// first takes the census as a part of operation a, and settles what algorithms are
// chosen by.
func (c *Comm) first(ctx context.Context, a call) error {
	if ctx.Err() != nil {
		return nil // the operation itself will say so
	}
	c.counted = true
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

// takeCensus finds out, together with the other ranks of the group, what they share if
// all of them are on one machine, and tells the executor.
func (c *Comm) takeCensus(ctx context.Context, a call) error {
	for _, r := range c.ranks {
		if c.job.host(r) != c.job.host(c.ranks[0]) {
			return nil
		}
	}
	shared := collective.Shared{Ranks: c.ranks, RoundTrips: true}
	const shares, roomy, reads = 0, 1, 2
	votes := []byte{1, 1, 1}
	sharer, _ := c.job.fab.(fabric.Sharer)
	reader, _ := c.job.fab.(fabric.Reader)
	for i, r := range c.ranks { // in order, so that no ring of ranks waits for each other
		if i == c.rank {
			continue
		}
		link, err := c.paths.Link(ctx, i)
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
	shared.Crowded = votes[roomy] == 0
	if votes[shares] == 1 {
		shared.Memory, shared.Reads = sharer, votes[reads] == 1
		if boarder, ok := c.job.fab.(fabric.Boarder); ok {
			if shared.Board, err = boarder.Board(ctx, c.paths.channel, c.ranks); err != nil {
				return err
			}
		}
	}
	c.exec.Share(shared)
	return nil
}
