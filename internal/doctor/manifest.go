package doctor

import (
	"fmt"
	"strings"

	"thundercollective/internal/bench"
	"thundercollective/internal/topology"
)

// A manifest is the content of the launch manifest, for Markdown and HTML: the system
// table, the phases with command, target, actual and verdict, the tables of measurements,
// and the verdict.
type manifest struct {
	Title    string
	Facts    []string
	Machines []manifestMachine
	Cables   []manifestCable
	Phases   []manifestPhase
	Measured []manifestTable
	Fixes    []manifestFix
	Verdict  Verdict
	Sentence string
	Plug     []string
}

type manifestMachine struct{ Rank, Host, Hardware, OS, Interfaces, Role string }

type manifestCable struct{ From, To, Speed, Kind, Carries, Via string }

type manifestPhase struct {
	Title, Goal string
	Checks      []Check
}

type manifestTable struct {
	Title, Command, Note string
	Target               string
	Rows                 []manifestRow
	Missing              string // why there are no rows
}

type manifestRow struct{ Size, Rate, P50, P99 string }

type manifestFix struct {
	Status            Status
	Where, What       string
	Cause, Fix, Phase string
}

var phaseGoals = map[Phase]string{
	Physical: "every cable is plugged in, seen from both ends, and runs at the speed that its ports can do",
	TCP:      "saturate the cable with several TCP streams, to be sure of it before trying RDMA",
	RDMA:     "verbs devices are active at both ends and reach the speed of the cable",
}

func (r *Report) manifest() *manifest {
	m := &manifest{
		Title: "Launch manifest", Verdict: r.Verdict, Sentence: r.Graph.Sentence(),
		Facts: []string{"Made " + r.Time.Format("2 January 2006, 15:04 MST"), "thunder " + r.Version},
	}
	for i, mac := range r.Graph.Machines {
		hardware := strings.Join(nonEmpty(mac.Model, mac.CPU.Model, dashless(topology.Memory(mac.Memory))), ", ")
		role := "worker"
		if i == 0 {
			role = "coordinator"
		}
		m.Machines = append(m.Machines, manifestMachine{fmt.Sprint(i), mac.Host, hardware, topology.System(mac), r.interfacesOf(i), role})
	}
	for i := range r.Graph.Cables {
		c := &r.Graph.Cables[i]
		m.Cables = append(m.Cables, manifestCable{c.A.String(), c.B.String(), c.Speed(), c.Label(), c.Carries(), strings.Join(c.Via, ", ")})
	}
	for _, p := range phases {
		ph := manifestPhase{Title: p.Title(), Goal: phaseGoals[p]}
		for _, c := range r.Checks {
			if c.Phase == p {
				ph.Checks = append(ph.Checks, c)
			}
			if c.Phase == p && (c.Status == Fail || c.Status == Warn) {
				m.Fixes = append(m.Fixes, manifestFix{c.Status, c.Subject, c.Title, c.Cause, c.Fix, p.Title()})
			}
		}
		m.Phases = append(m.Phases, ph)
	}
	for i := range r.Measurements {
		m.Measured = append(m.Measured, r.table(&r.Measurements[i]))
	}
	for _, p := range r.Graph.Plug {
		m.Plug = append(m.Plug, p.String())
	}
	return m
}

func (r *Report) interfacesOf(machine int) string {
	var out []string
	for i := range r.Graph.Cables {
		c := &r.Graph.Cables[i]
		for _, e := range []topology.End{c.A, c.B} {
			if e.Machine == machine {
				out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s", c.Label(), e.Interface)))
			}
		}
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

func (r *Report) table(m *Measurement) manifestTable {
	c := &r.Graph.Cables[m.Cable]
	e := Expect(r.Graph, c, m.Transport)
	t := manifestTable{
		Title: m.Tool + ", " + c.String(), Command: m.Command,
		Target: fmt.Sprintf("fine from %.1f GB/s, champagne from %.1f, stop below %.1f (%s)", e.Fine, e.Champagne, e.Investigate, e.Why),
	}
	switch {
	case m.Skipped != "":
		t.Missing = "Not measured: " + m.Skipped + "."
	case m.Err != "":
		t.Missing = "Could not be measured: " + m.Err + "."
	}
	for _, row := range m.Rows {
		t.Rows = append(t.Rows, manifestRow{bench.FormatSize(float64(row.Size)), fmt.Sprintf("%.3g", row.GBs), micros(row.P50us), micros(row.P99us)})
	}
	if len(m.Rows) > 0 {
		_, grade := e.Grade(m.Best())
		t.Note = fmt.Sprintf("Best %.2f GB/s: %s.", m.Best(), grade)
	}
	return t
}

func micros(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", v)
}

func nonEmpty(list ...string) []string {
	var out []string
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func dashless(s string) string {
	if s == "-" {
		return ""
	}
	return s
}
