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
	Warn   Status = "WARN" // works, but slowly or not reliably
	Fail   Status = "FAIL"
	Note   Status = "NOTE" // for information
	Skip   Status = "SKIP" // could not be checked; Actual or Cause tells why
	Absent Status = "NONE" // there is nothing to check
)

// A Phase is a step of bringing up a cable.
type Phase string

// The phases, in the order in which to do them.
const (
	Physical Phase = "physical"
	TCP      Phase = "tcp"
	RDMA     Phase = "rdma"
)

// phases lists the phases in order.
var phases = []Phase{Physical, TCP, RDMA}

// Title returns the phase's heading in reports.
func (p Phase) Title() string {
	switch p {
	case Physical:
		return "Phase I: physical link"
	case TCP:
		return "Phase II: TCP"
	}
	return "Phase III: RDMA"
}

// A Check is the result of one check.
type Check struct {
	ID      string `json:"id"` // stable name, such as "cable.speed"
	Phase   Phase  `json:"phase"`
	Machine int    `json:"machine"` // index in the graph, -1 if it is about a cable or about all machines
	Cable   int    `json:"cable"`   // index in the graph, -1 if it is about a machine or about all machines
	Subject string `json:"subject"`
	Title   string `json:"title"`
	Status  Status `json:"status"`
	Command string `json:"command,omitempty"` // shows the same to the user
	Target  string `json:"target,omitempty"`
	Actual  string `json:"actual,omitempty"`
	Cause   string `json:"cause,omitempty"`
	Fix     string `json:"fix,omitempty"`
}

// An examiner collects the checks of one subject.
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

// Examine runs all checks that need no traffic.
func Examine(g *topology.Graph) []Check {
	var all []Check
	for i, m := range g.Machines {
		x := &examiner{g: g, machine: i, cable: -1, subject: m.Host}
		if m.Lost != "" {
			x.add(Check{ID: "machine.reached", Phase: Physical, Title: "reached over ssh", Status: Fail, Command: "ssh " + m.SSH + " thunder topo",
				Actual: "did not answer", Cause: m.Lost, Fix: "run the command by hand until it works; thunder must be installed there"})
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
	x.compareMachines()
	all = append(all, x.checks...)
	sortChecks(all)
	return all
}

// sortChecks sorts checks by subject (machines, cables, all machines) and phase. It keeps
// the order within these.
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
