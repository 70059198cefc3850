package thunder

import "fmt"

// RailsTo reports on the rails to a rank of the group; nil where there is only one
// way to it.
func (c *Comm) RailsTo(rank int) []Rail {
	var list []Rail
	for _, r := range c.job.rails() {
		if r.Peer == c.ranks[rank] {
			list = append(list, r)
		}
	}
	return list
}

// OnlyRail has what this process sends to a rank of the group, in all groups, go
// over one rail alone, by its place in RailsTo; a negative rail lifts that. It is
// for measuring single cables. While the rail is lost, the others are used after
// all.
func (c *Comm) OnlyRail(rank, rail int) error {
	if c.job.wiring == nil || c.job.wiring.rails == nil {
		return fmt.Errorf("thunder: rank %d has only one rail", rank)
	}
	if err := c.job.wiring.rails.Only(c.ranks[rank], rail); err != nil {
		return fmt.Errorf("thunder: %w", err)
	}
	return nil
}
