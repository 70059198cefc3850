package thunder

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"thundercollective/internal/collective"
)

// Model is what the time of messages depends on; algorithms are chosen by it.
type Model = collective.Model

// LinkCost is what the messages of one kind of link cost.
type LinkCost = collective.LinkCost

// A Profile holds what was measured of a cluster, a model for each fabric by its
// name. 'thunder tune' writes it as JSON; Options.Profile names the file. All ranks
// of a job need the same one.
type Profile struct {
	Fabrics map[string]Model `json:"fabrics"`
}

// profile reads the profile that the options name; nil for none.
func (o Options) profile() (*Profile, error) {
	if o.Profile == "" {
		return nil, nil
	}
	return ReadProfile(o.Profile)
}

// ReadProfile reads a profile from a file.
func ReadProfile(path string) (*Profile, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, badOption("profile (THUNDER_PROFILE): %w; write it with 'thunder tune'", err)
	}
	p := &Profile{}
	if err := json.Unmarshal(b, p); err != nil {
		return nil, badOption("profile %s: %w; write it anew with 'thunder tune'", path, err)
	}
	for name, m := range p.Fabrics {
		if !m.Valid() {
			return nil, badOption("profile %s: the costs of %q are not positive numbers; write it anew with 'thunder tune'", path, name)
		}
	}
	return p, nil
}

// Write writes the profile to a file.
func (p *Profile) Write(path string) error {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("thunder: profile: %w", err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("thunder: profile: %w", err)
	}
	return nil
}

// model returns what is known of a fabric by its name. Of one that is put together,
// such as shm+tcp, it may be what is known of its parts.
func (p *Profile) model(fabric string) *Model {
	if m, ok := p.Fabrics[fabric]; ok {
		return &m
	}
	near, far, ok := strings.Cut(fabric, "+")
	within, knowsNear := p.Fabrics[near]
	across, knowsFar := p.Fabrics[far]
	if !ok || !knowsNear || !knowsFar {
		return nil
	}
	across.Local = &collective.LinkCost{Alpha: within.Alpha, Beta: within.Beta}
	return &across
}

// Streams returns how many connections to a peer move most over TCP; 0 if that was not
// measured.
func (p *Profile) Streams() int {
	if n := p.Fabrics["shm+tcp"].Streams; n > 0 {
		return n
	}
	return p.Fabrics["tcp"].Streams
}

// useProfile takes over what the profile says of the job's fabric. What this rank's own
// fabric is called need not be what others call theirs: a rank without neighbours has no
// use for shared memory. Hence the groups agree on what they use; see Comm.agree.
func (j *job) useProfile(p *Profile, o Options) {
	if p == nil || j.fab == nil {
		return
	}
	j.profiled = true
	name := j.fab.Name()
	if o.Fabric != "tcp" && o.Fabric != "rdma" && !strings.HasPrefix(name, "shm") && collective.NewHosts(j.hosts).Mixed() {
		name = "shm+" + name
	}
	if m := p.model(name); m != nil {
		j.model.Store(m)
	}
}

// choose picks the algorithm for an operation: by the model, or by rules of thumb.
func (c *Comm) choose(k Kind, size, bytes int) Algo {
	switch {
	case c.model != nil:
		return c.model.Choose(k, size, c.hosts, bytes)
	case c.hosts.Mixed() && c.cables == nil:
		return collective.ChooseMixed(k, size, c.hosts, bytes)
	case c.exec.Crowded():
		return collective.ChooseCrowded(k, size, bytes, c.exec.Shares())
	case c.exec.Shares():
		return collective.ChooseShared(k, size, bytes)
	}
	return collective.Choose(k, size, bytes)
}

// segment is the length of the pieces in which messages travel, in bytes; 0 for that
// of package collective.
func (c *Comm) segment(k Kind, a Algo, bytes int) int {
	switch {
	case c.job.segment > 0:
		return c.job.segment
	case c.model != nil:
		return c.model.Segment(k, a, len(c.ranks), c.hosts, bytes)
	}
	return 0
}

// A Choice is how an operation is performed.
type Choice struct {
	Algo    Algo
	Segment int // the length of the pieces in which its messages travel, in bytes

	// Path is how ranks carry it out with ordinary buffers, PathAlloc with buffers that
	// all of them have from Comm.Alloc. Only PathMessages and PathExchange follow Algo.
	Path, PathAlloc Path

	Crowded bool // there are more ranks than cores, all on one machine
}

// Choice says how this group performs an operation on count elements (of a block, where
// there are blocks) with the algorithm a, which may be Auto. It is settled with the
// first operation of the group.
func (c *Comm) Choice(k Kind, a Algo, dt DType, count int) Choice {
	c.turn.enterAndWait() // the model belongs to the operations
	defer c.turn.leave()
	s := collective.Spec{
		Kind: k, Algo: a, Rank: c.rank, Size: len(c.ranks), Count: count, RecvCount: count, Cables: c.cables, Hosts: c.hosts,
		Crowded: a == Auto && c.exec.Crowded(), Fixed: a != Auto, Separate: k.Blocks(),
	}
	if a == Auto {
		s.Algo = c.job.algoFor(k)
	}
	s = s.ResolveWith(dt.Size(), c.choose)
	bytes := count * dt.Size()
	segment := c.segment(k, s.Algo, bytes)
	choice := Choice{Algo: s.Algo, Segment: cmp.Or(segment, collective.DefaultSegment), Crowded: c.exec.Crowded()}
	s.Segment = segment / max(1, dt.Size())
	choice.Path, choice.PathAlloc = c.exec.Decide(s, dt, false), c.exec.Decide(s, dt, true)
	return choice
}
