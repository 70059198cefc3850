package tuning

import (
	"strings"
	"sync/atomic"

	"thundercollective/internal/collective"
)

// A Job is what the groups of a job choose by.
type Job struct {
	Algo      collective.Algo // of all operations that have it; Auto to choose
	Segment   int             // bytes in which messages travel; 0 to choose
	Calibrate bool            // without a profile, the first operation measures

	profiled bool
	model    atomic.Pointer[Model] // what was read or measured; nil for nothing
}

// UseProfile takes over what a profile says of the job's fabric. What this rank's own
// fabric is called need not be what others call theirs: a rank that is alone on its
// machine does not use shared memory. Hence the groups agree on what they use; see Agree.
func (j *Job) UseProfile(p *Profile, fabric string, auto, mixed bool) {
	if p == nil {
		return
	}
	j.profiled = true
	if auto && mixed && !strings.HasPrefix(fabric, "shm") {
		fabric = "shm+" + fabric
	}
	if m := p.model(fabric); m != nil {
		j.model.Store(m)
	}
}

// AlgoFor returns the job's algorithm for operations that have it; Auto for the rest.
func (j *Job) AlgoFor(k collective.Kind) collective.Algo {
	for _, a := range collective.Algos(k) {
		if a == j.Algo {
			return a
		}
	}
	return collective.Auto
}

// A Chooser picks algorithms and segments for one group. All ranks of the group must
// have the same facts.
type Chooser struct {
	Size    int
	Hosts   *collective.Hosts
	Cables  bool // declared cables decide, not hosts
	Crowded bool // ranks outnumber processors, all on one machine
	Shared  bool // all ranks share memory
	Segment int  // the job's; 0 to choose

	Model *Model // nil for rules of thumb
}

// Algo picks the algorithm for an operation: by the model, or by rules of thumb.
func (c *Chooser) Algo(k collective.Kind, size, bytes int) collective.Algo {
	switch {
	case c.Model != nil:
		return c.Model.Choose(k, size, c.Hosts, bytes)
	case c.Hosts.Mixed() && !c.Cables:
		return collective.ChooseMixed(k, size, c.Hosts, bytes)
	case c.Crowded:
		return collective.ChooseCrowded(k, size, bytes, c.Shared)
	case c.Shared:
		return collective.ChooseShared(k, size, bytes)
	}
	return collective.Choose(k, size, bytes)
}

// SegmentFor returns the length in bytes of the segments in which messages travel; 0 for
// the default of package collective.
func (c *Chooser) SegmentFor(k collective.Kind, a collective.Algo, bytes int) int {
	switch {
	case c.Segment > 0:
		return c.Segment
	case c.Model != nil:
		return c.Model.Segment(k, a, c.Size, c.Hosts, bytes)
	}
	return 0
}
