package topology

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// WriteDOT writes the graph for Graphviz (`dot -Tpng`, or neato for a mesh).
func (g *Graph) WriteDOT(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintln(&b, "graph cabling {")
	fmt.Fprintf(&b, "  label=%s; labelloc=t; layout=circo; overlap=false;\n", strconv.Quote(g.Sentence()))
	fmt.Fprintln(&b, `  node [shape=box, style="rounded,filled", fillcolor="#f6f8fa", fontname="Helvetica"];`)
	fmt.Fprintln(&b, `  edge [fontname="Helvetica", fontsize=10];`)
	for i, m := range g.Machines {
		fmt.Fprintf(&b, "  m%d [label=%s];\n", i, strconv.Quote(m.Host+"\n"+m.CPU.Model+"\n"+Memory(m.Memory)))
	}
	for i := range g.Cables {
		c := &g.Cables[i]
		far := "m" + strconv.Itoa(c.B.Machine)
		if !c.B.Known() {
			far = "x" + strconv.Itoa(i)
			fmt.Fprintf(&b, "  %s [label=%s, style=\"rounded,dashed\"];\n", far, strconv.Quote(c.B.Host+"\n(not queried)"))
		}
		fmt.Fprintf(&b, "  m%d -- %s [label=%s, taillabel=%s, headlabel=%s, color=%q, penwidth=%.1f];\n", c.A.Machine, far,
			strconv.Quote(c.caption()), portLabel(c.A), portLabel(c.B), c.colour(), c.width())
	}
	if g.Shape.Name == Switched {
		for i, n := range g.common() {
			fmt.Fprintf(&b, "  n%d [label=%s, shape=ellipse];\n", i, strconv.Quote(n.Prefix.String()))
			for _, e := range n.Ends {
				fmt.Fprintf(&b, "  m%d -- n%d [taillabel=%s];\n", e.Machine, i, strconv.Quote(e.Interface))
			}
		}
	}
	for _, p := range g.Plug {
		if p.Blocked == "" {
			fmt.Fprintf(&b, "  m%d -- m%d [style=dashed, color=%q, label=\"missing\", taillabel=%s, headlabel=%s];\n",
				p.A.Machine, p.B.Machine, colourMissing, portLabel(p.A), portLabel(p.B))
		}
	}
	fmt.Fprintln(&b, "}")
	_, err := w.Write(b.Bytes())
	return err
}

func portLabel(e End) string {
	if e.Port > 0 {
		return strconv.Quote(strconv.Itoa(e.Port))
	}
	return strconv.Quote(e.Interface)
}
