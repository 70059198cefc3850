package collective

import "fmt"

// Hosts says which ranks of a group share a host, for the algorithms that work
// within hosts first. The ranks must agree on it. It is not changed once made.
type Hosts struct {
	of      []int   // by rank: the number of its host
	place   []int   // by rank: its place among the ranks of its host
	members [][]int // by host: its ranks, in order

	most, least int // ranks on the fullest host and on the emptiest
	// ways is how many links of the ring of all ranks leave a host; busiest, how many
	// of those leave the host that has most of them.
	ways, busiest int
}

// NewHosts groups ranks by the names of their hosts.
func NewHosts(names []string) *Hosts {
	h := &Hosts{of: make([]int, len(names)), place: make([]int, len(names))}
	numbers := make(map[string]int)
	for r, name := range names {
		n, ok := numbers[name]
		if !ok {
			n = len(h.members)
			numbers[name] = n
			h.members = append(h.members, nil)
		}
		h.of[r], h.place[r] = n, len(h.members[n])
		h.members[n] = append(h.members[n], r)
	}
	h.least = len(names)
	for _, m := range h.members {
		h.most, h.least = max(h.most, len(m)), min(h.least, len(m))
	}
	leaving := make([]int, len(h.members))
	for r, host := range h.of {
		if h.of[(r+1)%len(h.of)] != host {
			leaving[host]++
			h.ways++
			h.busiest = max(h.busiest, leaving[host])
		}
	}
	return h
}

// Mixed reports whether some ranks share a host and others do not: only then is
// there anything to do within hosts first.
func (h *Hosts) Mixed() bool {
	return h != nil && len(h.members) > 1 && len(h.members) < len(h.of)
}

// Count is the number of hosts.
func (h *Hosts) Count() int { return len(h.members) }

// Of returns the number of a rank's host.
func (h *Hosts) Of(rank int) int { return h.of[rank] }

func (h *Hosts) validate(size int) error {
	if h != nil && len(h.of) != size {
		return fmt.Errorf("hosts of %d ranks in a group of %d", len(h.of), size)
	}
	return nil
}
