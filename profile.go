package thunder

import (
	"encoding/json"
	"fmt"
	"os"

	"thundercollective/collective"
)

// Model is what the time of messages depends on; algorithms are chosen by it.
type Model = collective.Model

// A Profile holds what was measured of a cluster, a model for each fabric by its
// name. 'thunder tune' writes it as JSON; Options.Profile names the file. All ranks
// of a job need the same one.
type Profile struct {
	Fabrics map[string]Model `json:"fabrics"`
}

// ReadProfile reads a profile from a file.
func ReadProfile(path string) (*Profile, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("thunder: profile: %w", err)
	}
	p := &Profile{}
	if err := json.Unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("thunder: profile %s: %w; write it anew with 'thunder tune'", path, err)
	}
	for name, m := range p.Fabrics {
		if !m.Valid() {
			return nil, fmt.Errorf("thunder: profile %s: the costs of %q are not positive numbers; write it anew with 'thunder tune'", path, name)
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

// useProfile makes the job choose by the profile, if it knows the job's fabric.
func (j *job) useProfile(path string) error {
	if path == "" {
		return nil
	}
	p, err := ReadProfile(path)
	if err != nil {
		return err
	}
	if j.fab != nil {
		if m, ok := p.Fabrics[j.fab.Name()]; ok {
			j.model = &m
		}
	}
	return nil
}

// choose picks the algorithm for an operation: by the profile, or by rules of thumb.
func (c *Comm) choose(k Kind, size, bytes int) Algo {
	switch {
	case c.job.model != nil:
		return c.job.model.Choose(k, size, bytes)
	case c.census.crowded:
		return collective.ChooseCrowded(k, size, bytes)
	}
	return collective.Choose(k, size, bytes)
}

// Choice says which algorithm Auto stands for in this group, for an operation on
// count elements (of a block, where there are blocks). It is settled with the first
// operation of the group.
func (c *Comm) Choice(k Kind, dt DType, count int) Algo {
	if a := c.job.algoFor(k); a != Auto {
		return a
	}
	c.turn.enterAndWait() // the census belongs to the operations
	defer c.turn.leave()
	return c.choose(k, len(c.ranks), count*dt.Size())
}
