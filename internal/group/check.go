package group

import "time"

// askEvery is how long an operation waits before it asks its peers what they are doing,
// and how often it asks again. That finds ranks which disagree in ways that leave nothing
// for them to receive from each other.
const askEvery = 500 * time.Millisecond

// Check looks at the deadlines of operations, and asks about those that take long.
func (g *Group) Check() {
	if g.Err() != nil {
		return
	}
	clock, limit := g.cfg.Clock.Read(), g.cfg.Timeout
	g.current.abandoned(g)
	if a, since, ok := g.current.overdue(clock, limit); ok {
		g.FailAll(g.timeout(a, since))
		return
	}
	for i := range g.pairs.list {
		for _, t := range g.pairs.list[i].activities() {
			t.abandoned(g)
			if a, since, ok := t.overdue(clock, limit); ok {
				g.FailAll(g.timeout(a, since))
				return
			}
		}
	}
	if a, ok := g.current.stalled(clock, askEvery); ok {
		tag := a.tag()
		g.cfg.Session.AskWhere(g.cfg.ID, g.cfg.Ranks, a.seq, &tag)
	}
}
