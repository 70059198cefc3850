package doctor

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"thundercollective/internal/topology"
	"thundercollective/internal/topology/probe"
)

// TextOptions are the options of WriteText.
type TextOptions struct {
	Colour bool
	Quiet  bool // only checks with WARN or FAIL
}

// WriteText writes the report as text: a block for each machine and each cable, then the
// checks that compare machines, then the verdict.
func (r *Report) WriteText(w io.Writer, o TextOptions) error {
	b := bufio.NewWriter(w)
	subject, phase := "", Phase("")
	for _, c := range r.Checks {
		if o.Quiet && c.Status != Warn && c.Status != Fail {
			continue
		}
		if c.Subject != subject {
			fmt.Fprintf(b, "%s%s\n", c.Subject, r.subtitle(c))
			subject, phase = c.Subject, ""
		}
		if c.Phase != phase {
			fmt.Fprintf(b, "  %s\n", c.Phase.Title())
			phase = c.Phase
		}
		fmt.Fprintf(b, "    %s  %-26s %s\n", paint(c.Status, o.Colour), c.Title, c.Actual)
		if c.Cause != "" {
			fmt.Fprintf(b, "          cause: %s\n", c.Cause)
		}
		if c.Fix != "" {
			fmt.Fprintf(b, "          fix:   %s\n", c.Fix)
		}
	}
	if subject != "" {
		fmt.Fprintln(b)
	}
	fmt.Fprintln(b, r.Verdict.Sentence)
	return b.Flush()
}

// subtitle describes the machine of a check.
func (r *Report) subtitle(c Check) string {
	if c.Machine < 0 {
		return ""
	}
	if text := describe(r.Graph.Machines[c.Machine]); text != "" {
		return "  (" + text + ")"
	}
	return ""
}

func describe(m *probe.Machine) string {
	var parts []string
	for _, s := range []string{m.Model, m.CPU.Model, topology.Memory(m.Memory), topology.System(m)} {
		if s != "" && s != "-" {
			parts = append(parts, s)
		}
	}
	for _, g := range m.GPUs {
		if g.Name != m.CPU.Model {
			parts = append(parts, g.Name)
		} else if g.Cores > 0 {
			parts = append(parts, fmt.Sprintf("%d GPU cores", g.Cores))
		}
	}
	return strings.Join(parts, ", ")
}

var ansi = map[Status]string{Pass: "32", Warn: "33", Fail: "31;1", Note: "36", Skip: "90", Absent: "90"}

func paint(s Status, colour bool) string {
	if !colour {
		return string(s)
	}
	return "\x1b[" + ansi[s] + "m" + string(s) + "\x1b[0m"
}
