package doctor

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the launch manifest as Markdown.
func (r *Report) WriteMarkdown(w io.Writer) error {
	m, b := r.manifest(), bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s\n\n%s\n\n", m.Title, strings.Join(m.Facts, ", "))
	fmt.Fprintf(b, "**Status: %s**\n\n## System\n\n", m.Verdict.Sentence)
	row(b, "Rank", "Node", "Hardware", "OS", "Interface", "Role")
	row(b, "---", "---", "---", "---", "---", "---")
	for _, x := range m.Machines {
		row(b, x.Rank, x.Host, x.Hardware, x.OS, x.Interfaces, x.Role)
	}
	fmt.Fprintf(b, "\n## Cabling\n\n%s\n", m.Sentence)
	for _, p := range m.Plug {
		fmt.Fprintf(b, "- [ ] %s\n", cell(p))
	}
	if len(m.Cables) > 0 {
		fmt.Fprintln(b)
		row(b, "From", "To", "Speed", "Kind", "Carries", "Via")
		row(b, "---", "---", "---", "---", "---", "---")
		for _, c := range m.Cables {
			row(b, c.From, c.To, c.Speed, c.Kind, c.Carries, c.Via)
		}
	}
	for _, p := range m.Phases {
		fmt.Fprintf(b, "\n## %s\n\nGoal: %s.\n\n", p.Title, p.Goal)
		row(b, "", "Check", "Where", "Command", "Target", "Actual", "Verdict")
		row(b, "---", "---", "---", "---", "---", "---", "---")
		for _, c := range p.Checks {
			row(b, box(c.Status), c.Title, c.Subject, code(c.Command), c.Target, c.Actual, string(c.Status))
		}
	}
	if len(m.Measured) > 0 {
		fmt.Fprint(b, "\n## Measured\n")
	}
	for _, t := range m.Measured {
		markdownTable(b, &t)
	}
	if len(m.Fixes) > 0 {
		fmt.Fprint(b, "\n## To do\n\n")
	}
	for _, f := range m.Fixes {
		fmt.Fprintf(b, "- [ ] **%s** %s, %s: %s. Fix: %s\n", f.Status, f.Where, f.What, cell(f.Cause), cell(f.Fix))
	}
	fmt.Fprintf(b, "\n## Verdict\n\n%s\n", m.Verdict.Sentence)
	return b.Flush()
}

func markdownTable(b *bufio.Writer, t *manifestTable) {
	fmt.Fprintf(b, "\n### %s\n\nCommand: %s\n\nTarget: %s\n\n", t.Title, code(t.Command), t.Target)
	if t.Missing != "" {
		fmt.Fprintf(b, "%s\n", t.Missing)
		return
	}
	row(b, "Size", "GB/s", "p50 µs", "p99 µs")
	row(b, "---:", "---:", "---:", "---:")
	for _, r := range t.Rows {
		row(b, r.Size, r.Rate, r.P50, r.P99)
	}
	fmt.Fprintf(b, "\n%s\n", t.Note)
}

func box(s Status) string {
	if s == Pass {
		return "[x]"
	}
	return "[ ]"
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(s, "`", "'") + "`"
}

func row(b *bufio.Writer, cells ...string) {
	for _, c := range cells {
		b.WriteString("| " + cell(c) + " ")
	}
	b.WriteString("|\n")
}

// cell escapes text for a cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s)
}
