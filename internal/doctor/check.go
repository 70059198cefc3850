package doctor

import (
	"cmp"
	"slices"

	"thundercollective/internal/topology"
)

// A Status is the outcome of a check.
type Status string

// Statuses. Only Warn and Fail come with a cause.
const (
	Pass   Status = "PASS"
	Warn   Status = "WARN" // works, but not as well as it could, or not for long
	Fail   Status = "FAIL"
	Note   Status = "NOTE" // worth knowing
	Skip   Status = "SKIP" // could not be checked, and says why
	Absent Status = "NONE" // there is nothing of the kind here
)

// A Phase is a part of bringing up a link, in the order to do it.
type Phase string

// Phases.
const (
	Physical Phase = "physical"
	TCP      Phase = "tcp"
	RDMA     Phase = "rdma"
)

// Phases lists the phases in order.
var phases = []Phase{Physical, TCP, RDMA}

// Title is the phase as the manifest calls it.
func (p Phase) Title() string {
	switch p {
	case Physical:
		return "Phase I: physical link"
	case TCP:
		return "Phase II: TCP"
	}
	return "Phase III: RDMA"
}

// A Check is one thing that was looked at.
type Check struct {
	ID      string `json:"id"` // stable name, "cable.speed"
	Phase   Phase  `json:"phase"`
	Machine int    `json:"machine"` // index in the graph, -1 when it is about a cable or about all
	Cable   int    `json:"cable"`   // index in the graph, -1 when it is about a machine or about all
	Subject string `json:"subject"`
	Title   string `json:"title"`
	Status  Status `json:"status"`
	Command string `json:"command,omitempty"` // how to see it yourself
	Target  string `json:"target,omitempty"`
	Actual  string `json:"actual,omitempty"`
	Cause   string `json:"cause,omitempty"`
	Fix     string `json:"fix,omitempty"`
}

// An examiner collects checks about one subject.
type examiner struct {
	g       *topology.Graph
	machine int
	cable   int
	subject string
	checks  []Check
}

func (x *examiner) add(c Check) {
	c.Machine, c.Cable, c.Subject = x.machine, x.cable, x.subject
	x.checks = append(x.checks, c)
}

// Examine runs every check that needs no traffic.
func Examine(g *topology.Graph) []Check {
	var all []Check
	for i, m := range g.Machines {
		x := &examiner{g: g, machine: i, cable: -1, subject: m.Host}
		if m.Lost != "" {
			x.add(Check{ID: "machine.reached", Phase: Physical, Title: "reached over ssh", Status: Fail, Command: "ssh " + m.SSH + " thunder topo",
				Actual: "could not be asked", Cause: m.Lost, Fix: "run the command by hand until it works; thunder must be installed there"})
			all = append(all, x.checks...)
			continue
		}
		x.machinePhysical(m)
		x.machineTCP(m)
		x.machineRDMA(m)
		all = append(all, x.checks...)
	}
	for i := range g.Cables {
		c := &g.Cables[i]
		x := &examiner{g: g, machine: -1, cable: i, subject: "cable " + c.String()}
		x.cablePhysical(c)
		if c.A.Known() && c.B.Known() && c.A.Machine != c.B.Machine && c.Match != topology.ByOneEnd {
			x.cableTCP(c)
			x.cableRDMA(c)
		}
		all = append(all, x.checks...)
	}
	x := &examiner{g: g, machine: -1, cable: -1, subject: "all machines"}
	x.together()
	all = append(all, x.checks...)
	sortChecks(all)
	return all
}

// sortChecks orders checks by subject (machines, then cables, then all) and
// phase, keeping the order within.
func sortChecks(cs []Check) {
	rank := func(c Check) int {
		switch {
		case c.Machine >= 0:
			return c.Machine
		case c.Cable >= 0:
			return 1_000_000 + c.Cable
		}
		return 2_000_000
	}
	slices.SortStableFunc(cs, func(a, b Check) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(slices.Index(phases, a.Phase), slices.Index(phases, b.Phase)))
	})
}
