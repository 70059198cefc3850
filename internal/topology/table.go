package topology

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"thundercollective/internal/plural"
	"thundercollective/internal/topology/probe"
)

// WriteTable writes the graph as text: machines, cables, shape, advice, and what could
// not be read. Tables omit columns to fit lines of width characters; 0 is no limit.
func (g *Graph) WriteTable(w io.Writer, width int) error {
	rows := [][]string{{"MACHINE", "MODEL", "CPU", "MEMORY", "OS", "THUNDERBOLT", "RDMA"}}
	for _, m := range g.Machines {
		if m.Lost != "" {
			rows = append(rows, []string{m.Host, "did not answer"})
			continue
		}
		rows = append(rows, []string{m.Host, shorten(dash(m.Model), 26), shorten(dash(m.CPU.Model), 26), Memory(m.Memory), System(m), portSummary(m), rdmaSummary(m)})
	}
	if g.lost() == 0 {
		rows = fit(rows, width, "MODEL", "OS", "CPU", "MEMORY")
	} else { // their second column is not the model
		rows = fit(rows, width, "OS", "CPU", "MEMORY")
	}
	if err := writeRows(w, rows); err != nil {
		return err
	}
	if err := g.writeCables(w, width); err != nil {
		return err
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, g.Sentence())
	for _, p := range g.Plug {
		fmt.Fprintf(w, "  To make it a %s: %s.\n", p.For, p)
	}
	for _, n := range g.others() {
		fmt.Fprintf(w, "Also joined by %s.\n", n.String())
	}
	for _, m := range g.Machines {
		for _, p := range m.Problems {
			fmt.Fprintf(w, "%s: %s.\n", m.Host, p)
		}
	}
	return nil
}

// others returns the networks that Sentence does not name.
func (g *Graph) others() []Network {
	if g.Shape.Name != Switched {
		return g.Networks
	}
	named := g.common()[0].Prefix
	return slices.DeleteFunc(slices.Clone(g.Networks), func(n Network) bool { return n.Prefix == named })
}

// lost returns the number of machines that did not answer.
func (g *Graph) lost() int {
	n := 0
	for _, m := range g.Machines {
		if m.Lost != "" {
			n++
		}
	}
	return n
}

func (g *Graph) writeCables(w io.Writer, width int) error {
	if g.Shape.Name == Switched {
		return nil
	}
	if len(g.Cables) == 0 {
		_, err := fmt.Fprintln(w, "\nNo cable between computers found.")
		return err
	}
	rows := [][]string{{"FROM", "INTERFACE", "TO", "INTERFACE", "SPEED", "KIND", "CARRIES", "MATCHED BY", "VIA"}}
	for i := range g.Cables {
		c := &g.Cables[i]
		rows = append(rows, []string{c.A.place(), dash(c.A.Interface), c.B.place(), dash(c.B.Interface),
			dash(c.Speed()), c.Label(), c.Carries(), c.Match, dash(strings.Join(c.Via, ", "))})
	}
	fmt.Fprintln(w)
	return writeRows(w, fit(rows, width, "MATCHED BY", "VIA", "KIND"))
}

// place returns the end without its interface, which has a column of its own.
func (e End) place() string {
	if e.Port == 0 {
		return e.Host
	}
	return e.String()
}

// Carries describes what a cable can be used for now.
func (c *Cable) Carries() string {
	switch {
	case c.Transport == OverRDMA:
		return "RDMA, TCP"
	case c.Transport == OverTCP:
		return "TCP"
	case !c.A.Known() || !c.B.Known():
		return "not queried"
	}
	return "nothing yet"
}

// String returns "192.168.1.0/24 (mac-a en0, mac-b en0), 10 Gb/s".
func (n *Network) String() string {
	names := make([]string, len(n.Ends))
	for i, e := range n.Ends {
		names[i] = e.Host + " " + e.Interface
	}
	text := fmt.Sprintf("%s (%s)", n.Prefix, strings.Join(names, ", "))
	if n.Mbps > 0 {
		text += fmt.Sprintf(", %g Gb/s", float64(n.Mbps)/1000)
	}
	return text
}

// Memory formats a machine's memory: "512 GB".
func Memory(b uint64) string {
	if b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f GB", float64(b)/(1<<30))
}

// System describes the operating system in a few words.
func System(m *probe.Machine) string {
	if m.OS.Kind == "darwin" {
		s := strings.TrimSpace(m.OS.Name + " " + m.OS.Version)
		if m.OS.Build != "" {
			s += " (" + m.OS.Build + ")"
		}
		return dash(s)
	}
	if m.OS.Name == "" {
		return dash(m.OS.Kernel)
	}
	return m.OS.Name + ", " + m.OS.Kernel
}

func portSummary(m *probe.Machine) string {
	if m.Thunderbolt.Controllers == 0 {
		return "none"
	}
	used := 0
	for _, p := range m.Thunderbolt.Ports {
		if p.Connected {
			used++
		}
	}
	return fmt.Sprintf("%d of %s in use", used, plural.Count(len(m.Thunderbolt.Ports), "port"))
}

func rdmaSummary(m *probe.Machine) string {
	active := 0
	for _, d := range m.RDMA.Devices {
		for _, p := range d.Ports {
			if p.Active() {
				active++
				break
			}
		}
	}
	switch {
	case len(m.RDMA.Devices) > 0:
		return fmt.Sprintf("%d of %d active", active, len(m.RDMA.Devices))
	case m.RDMA.Control != "":
		return m.RDMA.Control + ", no devices"
	}
	return "none"
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
