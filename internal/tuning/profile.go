package tuning

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"thundercollective/internal/collective"
	"thundercollective/internal/failure"
)

// Model is what the time of messages depends on; algorithms are chosen by it.
type Model = collective.Model

// LinkCost is what the messages of one kind of link cost.
type LinkCost = collective.LinkCost

// A Profile holds what was measured of a cluster, a model for each fabric by its
// name. 'thunder tune' writes it as JSON; Options.Tuning.Profile names the file. All ranks
// of a job need the same one.
type Profile struct {
	Fabrics map[string]Model `json:"fabrics"`
}

// ReadProfile reads a profile from a file.
func ReadProfile(path string) (*Profile, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, failure.BadOption("profile (THUNDER_PROFILE): %w; write it with 'thunder tune'", err)
	}
	p := &Profile{}
	if err := json.Unmarshal(b, p); err != nil {
		return nil, failure.BadOption("profile %s: %w; write it anew with 'thunder tune'", path, err)
	}
	for name, m := range p.Fabrics {
		if !m.Valid() {
			return nil, failure.BadOption("profile %s: the costs of %q are not positive numbers; write it anew with 'thunder tune'", path, name)
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
