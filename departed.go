package thunder

// departed remembers the groups that this rank closed most recently, and how many
// operations it had begun in each: a peer that waits for one more waits in vain.
type departed struct {
	groups [64]struct {
		id  uint32
		seq uint64
	}
	next int
}

// add remembers a group. Numbers of groups are not used twice.
func (d *departed) add(id uint32, seq uint64) {
	g := &d.groups[d.next%len(d.groups)]
	g.id, g.seq = id, seq
	d.next++
}

// before says whether the group was closed before operation seq of it began.
func (d *departed) before(id uint32, seq uint64) bool {
	for _, g := range d.groups {
		if g.id == id {
			return g.seq < seq
		}
	}
	return false
}

// leftBefore says whether this rank closed a group before its operation seq.
func (j *job) leftBefore(id uint32, seq uint64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.past.before(id, seq)
}
