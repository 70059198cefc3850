package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"thundercollective/internal/plural"
	"thundercollective/internal/topology"
)

// A Report holds all checks and measurements.
type Report struct {
	Time         time.Time       `json:"time"`
	Version      string          `json:"version"` // of the program
	Graph        *topology.Graph `json:"graph"`
	Checks       []Check         `json:"checks"`
	Measurements []Measurement   `json:"measurements,omitempty"`
	Verdict      Verdict         `json:"verdict"`
}

// A Verdict sums a report up in one word and one sentence.
type Verdict struct {
	Name     string `json:"name"`
	Sentence string `json:"sentence"`
	Passed   int    `json:"passed"`
	Warnings int    `json:"warnings"`
	Failures int    `json:"failures"`
}

// Names of verdicts.
const (
	Healthy = "healthy"
	Limping = "limping" // warnings only
	Broken  = "broken"
	Nothing = "nothing" // no Thunderbolt and no RDMA: nothing to check
)

// NewReport examines g and combines the checks with measurements, which may be nil.
func NewReport(now time.Time, version string, g *topology.Graph, measured []Measurement) *Report {
	r := &Report{Time: now.UTC().Truncate(time.Second), Version: version, Graph: g, Checks: Examine(g), Measurements: measured}
	for i := range measured {
		r.Checks = append(r.Checks, measured[i].check(g))
	}
	sortChecks(r.Checks)
	r.Verdict = verdict(g, r.Checks)
	return r
}

func verdict(g *topology.Graph, checks []Check) Verdict {
	var v Verdict
	for _, c := range checks {
		switch c.Status {
		case Pass:
			v.Passed++
		case Warn:
			v.Warnings++
		case Fail:
			v.Failures++
		}
	}
	switch {
	case v.Failures > 0:
		v.Name, v.Sentence = Broken, fmt.Sprintf("BROKEN: %s, %s.", plural.Count(v.Failures, "failure"), plural.Count(v.Warnings, "warning"))
	case !anythingToCheck(g):
		v.Name, v.Sentence = Nothing, "NOTHING TO CHECK: no Thunderbolt and no RDMA here. Nothing is broken; thunder uses TCP over the network."
	case v.Warnings > 0:
		v.Name, v.Sentence = Limping, fmt.Sprintf("WORKS, with %s.", plural.Count(v.Warnings, "warning"))
	default:
		v.Name, v.Sentence = Healthy, fmt.Sprintf("HEALTHY: %s passed.", plural.Count(v.Passed, "check"))
	}
	return v
}

func anythingToCheck(g *topology.Graph) bool {
	for _, m := range g.Machines {
		if m.Thunderbolt.Controllers > 0 || len(m.RDMA.Devices) > 0 {
			return true
		}
	}
	return len(g.Cables) > 0 || g.Shape.Name == topology.Switched
}

// ExitCode returns 0 if everything works, also with warnings; 1 if something is broken; 3
// if there is nothing to check.
func (r *Report) ExitCode() int {
	switch r.Verdict.Name {
	case Broken:
		return 1
	case Nothing:
		return 3
	}
	return 0
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
