package topology

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"thundercollective/internal/plural"
)

// svgStyle follows the reader's light or dark preference.
const svgStyle = `
  .page{fill:#f7f8fa} .card{fill:#fff;stroke:#d5dae1} .ghost{fill:none;stroke:#8b95a1;stroke-dasharray:5 5}
  .ink{fill:#1b2430} .soft{fill:#5d6875} .pill{fill:#fff} .port{fill:#eef1f5;stroke:#b6bec8}
  text{font-family:system-ui,-apple-system,"Segoe UI","Helvetica Neue","DejaVu Sans",sans-serif}
  @media (prefers-color-scheme:dark){
    .page{fill:#12161c} .card{fill:#1d242d;stroke:#3a4552} .ink{fill:#eef2f6} .soft{fill:#9aa7b5}
    .pill{fill:#12161c} .port{fill:#2a333e;stroke:#50606f}}
`

// WriteSVG draws the graph: machines as cards with their ports, cables coloured by what
// they carry and wider the faster they are, missing ones dashed. The file refers to no
// other.
func (g *Graph) WriteSVG(w io.Writer) error {
	d := layOut(g)
	var b bytes.Buffer
	foot := wrap(g.footLines(), int((d.w-64)/(13*0.56)))
	height := d.h + 52 + 20*float64(len(foot))
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s">`+"\n",
		d.w, height, d.w, height, html.EscapeString(g.Sentence()))
	fmt.Fprintf(&b, "<style>%s</style>\n", svgStyle)
	b.WriteString(`<defs><filter id="lift" x="-20%" y="-20%" width="140%" height="150%"><feDropShadow dx="0" dy="3" stdDeviation="5" flood-color="#1b2430" flood-opacity=".16"/></filter></defs>` + "\n")
	fmt.Fprintf(&b, `<rect class="page" width="%.0f" height="%.0f"/>`+"\n", d.w, height)
	g.svgHead(&b, d)
	g.svgSwitch(&b, d)
	for _, wr := range d.wires {
		svgWire(&b, &wr)
	}
	for _, c := range d.cards {
		svgCard(&b, &c)
	}
	for _, wr := range d.wires {
		for _, p := range wr.plugs {
			svgPlug(&b, p, &wr)
		}
	}
	for _, l := range d.labels {
		fmt.Fprintf(&b, `<g class="label"><rect class="pill" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="11" stroke="%s" stroke-width="1.5"/>`, l.x, l.y, l.w, l.h, l.colour)
		svgText(&b, l.x+l.w/2, l.y+15.5, 12, "ink", "middle", "500", l.text)
		b.WriteString("</g>\n")
	}
	svgLegend(&b, d)
	for i, line := range foot {
		svgText(&b, 32, d.h+54+20*float64(i), 13, "soft", "start", "400", line)
	}
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

func (g *Graph) svgHead(b *bytes.Buffer, d *drawing) {
	joints := plural.Count(len(g.Cables), "cable")
	if g.Shape.Name == Switched {
		joints = plural.Count(len(g.Networks), "network")
	}
	svgText(b, 32, 46, 24, "ink", "start", "700", fmt.Sprintf("%s · %s", plural.Count(len(g.Machines), "machine"), joints))
	size := 15.0
	if textWidth(g.Sentence(), size) > d.w-64 {
		size = 15 * (d.w - 64) / textWidth(g.Sentence(), size)
	}
	svgText(b, 32, 74, size, "soft", "start", "400", g.Sentence())
}

// svgSwitch draws the network of machines on a switch: a sign in the middle, joined to each
// of them.
func (g *Graph) svgSwitch(b *bytes.Buffer, d *drawing) {
	if g.Shape.Name != Switched {
		return
	}
	var middle point
	for _, c := range d.cards {
		middle = middle.add(c.centre().scale(1 / float64(len(d.cards))))
	}
	network := g.common()[0]
	b.WriteString(`<g class="switch" stroke="#5d6875" stroke-width="3">` + "\n")
	for _, c := range d.cards {
		fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`+"\n", middle.x, middle.y, c.centre().x, c.centre().y)
	}
	sign := around(middle, textWidth(network.Prefix.String(), 12)+20, 30)
	fmt.Fprintf(b, `<rect class="card" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="8"/></g>`+"\n", sign.x, sign.y, sign.w, sign.h)
	svgText(b, middle.x, middle.y+4.5, 12, "ink", "middle", "600", network.Prefix.String())
}

// footLines returns the sentences below the picture.
func (g *Graph) footLines() []string {
	var out []string
	for _, p := range g.Plug {
		out = append(out, fmt.Sprintf("To make it a %s: %s.", p.For, p))
	}
	for _, n := range g.others() {
		out = append(out, "Also joined by "+n.String()+".")
	}
	return out
}

// wrap breaks sentences into lines of at most n characters, at spaces.
func wrap(sentences []string, n int) []string {
	var out []string
	for _, s := range sentences {
		line := ""
		for word := range strings.FieldsSeq(s) {
			if line != "" && len([]rune(line))+1+len([]rune(word)) > n {
				out = append(out, line)
				line = "   "
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		out = append(out, line)
	}
	return out
}

func svgWire(b *bytes.Buffer, w *wire) {
	path := fmt.Sprintf("M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", w.curve[0].x, w.curve[0].y,
		w.curve[1].x, w.curve[1].y, w.curve[2].x, w.curve[2].y, w.curve[3].x, w.curve[3].y)
	class, dash := "cable", ""
	switch {
	case w.missing:
		class, dash = "missing", ` stroke-dasharray="9 8"`
	case w.dotted:
		dash = ` stroke-dasharray="2 9"`
	}
	fmt.Fprintf(b, `<g class="%s" fill="none" stroke-linecap="round"><title>%s</title>`, class, html.EscapeString(w.tip))
	fmt.Fprintf(b, `<path d="%s" stroke="%s" stroke-width="%.1f"%s/>`, path, w.colour, w.width, dash)
	if !w.missing && !w.dotted && w.width > 4 {
		fmt.Fprintf(b, `<path d="%s" stroke="#fff" stroke-opacity=".35" stroke-width="%.1f"/>`, path, w.width/4)
	}
	b.WriteString("</g>\n")
	if w.via != "" {
		hub := around(w.viaAt, textWidth(w.via, 12)+24, 30)
		fmt.Fprintf(b, `<g class="hub"><rect class="card" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="8"/>`, hub.x, hub.y, hub.w, hub.h)
		svgText(b, w.viaAt.x, w.viaAt.y+4.5, 12, "ink", "middle", "600", w.via)
		b.WriteString("</g>\n")
	}
}

func svgCard(b *bytes.Buffer, c *card) {
	class := "card"
	filter := ` filter="url(#lift)"`
	if c.ghost {
		class, filter = "ghost", ""
	}
	fmt.Fprintf(b, `<g class="machine"><rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="14"%s/>`, class, c.x, c.y, c.w, c.h, filter)
	y := c.y + cardPad + 15
	svgText(b, c.x+cardPad, y, 17, "ink", "start", "700", c.title)
	for _, l := range append(append([]string{}, c.lines...), c.devices...) {
		y += lineStep
		svgText(b, c.x+cardPad, y+2, 12, "soft", "start", "400", l)
	}
	if len(c.free) > 0 {
		y += 26
		svgText(b, c.x+cardPad, y, 11, "soft", "start", "400", "free")
		for i, n := range c.free {
			x := c.x + cardPad + 32 + float64(i)*24
			fmt.Fprintf(b, `<rect class="port" x="%.1f" y="%.1f" width="20" height="14" rx="7"/>`, x, y-11)
			svgText(b, x+10, y, 10, "soft", "middle", "600", fmt.Sprint(n))
		}
	}
	b.WriteString("</g>\n")
}

// svgPlug draws a plug in a port, shaped like the receptacle.
func svgPlug(b *bytes.Buffer, p plugMark, w *wire) {
	pw, ph := 18.0, 26.0
	if p.along {
		pw, ph = ph, pw
	}
	if p.text == "" {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="6" fill="%s"/>`+"\n", p.at.x, p.at.y, w.colour)
		return
	}
	shape, ink := fmt.Sprintf(`fill="%s"`, w.colour), "#fff"
	if w.missing {
		shape, ink = `class="pill" stroke-dasharray="3 3"`, w.colour
	}
	fmt.Fprintf(b, `<g class="plug"><rect x="%.1f" y="%.1f" width="%.0f" height="%.0f" rx="8" %s stroke="%s" stroke-width="1.5"/>`,
		p.at.x-pw/2, p.at.y-ph/2, pw, ph, shape, w.colour)
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="12" font-weight="700" text-anchor="middle" fill="%s">%s</text></g>`+"\n",
		p.at.x, p.at.y+4.3, ink, html.EscapeString(p.text))
}

// svgLegend explains the colours that occur.
func svgLegend(b *bytes.Buffer, d *drawing) {
	items := []struct{ colour, dash, text string }{
		{colourRDMA, "", "RDMA"}, {colourTCP, "", "TCP"}, {colourIdle, "", "no address yet"},
		{colourStranger, "", "machine not queried"}, {colourOneEnded, "2 7", "seen from one end"}, {colourMissing, "7 6", "missing"},
	}
	x, y := 32.0, d.h+14
	for _, it := range items {
		if !slices.ContainsFunc(d.wires, func(w wire) bool { return w.colour == it.colour }) {
			continue
		}
		fmt.Fprintf(b, `<path d="M%.0f %.0fh30" stroke="%s" stroke-width="6" stroke-linecap="round" stroke-dasharray="%s"/>`, x, y, it.colour, it.dash)
		svgText(b, x+42, y+4, 12, "soft", "start", "400", it.text)
		x += 66 + textWidth(it.text, 12)
	}
	if x > 32 {
		svgText(b, x, y+4, 12, "soft", "start", "400", "the wider, the faster")
	}
	b.WriteString("\n")
}

func svgText(b *bytes.Buffer, x, y, size float64, class, anchor, weight, text string) {
	fmt.Fprintf(b, `<text class="%s" x="%.1f" y="%.1f" font-size="%.4g" text-anchor="%s" font-weight="%s">%s</text>`,
		class, x, y, size, anchor, weight, html.EscapeString(text))
}
