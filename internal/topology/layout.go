package topology

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"thundercollective/internal/topology/probe"
)

// A drawing is the layout of a graph: cards for machines, curves for cables, plugs where
// a cable meets a card. It holds geometry only, no SVG.
type drawing struct {
	w, h   float64
	top    float64 // height of the heading
	cards  []card
	wires  []wire
	labels []label
}

type card struct {
	box
	title   string
	lines   []string
	free    []int // ports without a cable
	ghost   bool  // a machine that is not in the graph
	devices []string
}

// A wire is the curve of a cable, or of a missing one.
type wire struct {
	curve   bezier
	colour  string
	width   float64
	missing bool
	dotted  bool
	tip     string
	plugs   [2]plugMark
	via     string
	viaAt   point
}

type plugMark struct {
	at    point
	along bool // the card's edge runs left to right
	text  string
}

type label struct {
	box
	text, colour string
}

const (
	cardPad   = 16.0
	lineStep  = 17.0
	headSpace = 96.0
	socketGap = 34.0
)

// layOut returns the layout of g.
func layOut(g *Graph) *drawing {
	d := &drawing{top: headSpace}
	for _, m := range g.Machines {
		d.cards = append(d.cards, machineCard(g, m))
	}
	var pairs []span
	for i := range g.Cables {
		c := &g.Cables[i]
		b := c.B.Machine
		if !c.B.Known() {
			b = len(d.cards)
			d.cards = append(d.cards, ghostCard(c.B))
		}
		pairs = append(pairs, span{a: c.A.Machine, b: b, ends: [2]End{c.A, c.B}, cable: c})
	}
	for _, p := range g.Plug {
		if p.Blocked == "" {
			pairs = append(pairs, span{a: p.A.Machine, b: p.B.Machine, ends: [2]End{p.A, p.B}})
		}
	}
	d.place(len(g.Machines), g.Shape)
	d.wire(pairs)
	d.label(pairs)
	return d
}

// A span is a cable to draw between two cards; cable is nil for a missing one.
type span struct {
	a, b  int
	ends  [2]End
	cable *Cable
}

func (s span) key() [2]int { return [2]int{min(s.a, s.b), max(s.a, s.b)} }

func machineCard(g *Graph, m *probe.Machine) card {
	c := card{title: shorten(m.Host, 28)}
	if s := strings.TrimSpace(m.CPU.Model); s != "" {
		c.lines = append(c.lines, shorten(s, 34))
	}
	var facts []string
	if m.Memory > 0 {
		facts = append(facts, Memory(m.Memory))
	}
	os := strings.TrimSpace(m.OS.Name + " " + m.OS.Version)
	if m.OS.Kind == "linux" {
		os = shorten(m.OS.Name, 24)
	}
	c.lines = append(c.lines, strings.Join(append(facts, os), " · "))
	planned := map[int]bool{}
	for _, p := range g.Plug {
		for _, e := range []End{p.A, p.B} {
			if p.Blocked == "" && g.Machines[e.Machine] == m {
				planned[e.Port] = true
			}
		}
	}
	for _, p := range m.Thunderbolt.Ports {
		if !p.Connected && !planned[p.Number] {
			c.free = append(c.free, p.Number)
		}
		for _, n := range p.Devices {
			hosts := 0
			p.Hosts(func(*probe.Node, []*probe.Node) { hosts++ })
			if n.Kind == probe.KindDevice && hosts == 0 {
				c.devices = append(c.devices, fmt.Sprintf("port %d: %s", p.Number, shorten(n.Name, 24)))
			}
		}
	}
	c.size()
	return c
}

func ghostCard(e End) card {
	c := card{title: shorten(e.Host, 24), lines: []string{"not queried"}, ghost: true}
	c.size()
	return c
}

func (c *card) size() {
	c.w = max(170, textWidth(c.title, 18.5)+2*cardPad) // bold is wider
	for _, l := range slices.Concat(c.lines, c.devices) {
		c.w = max(c.w, textWidth(l, 12)+2*cardPad)
	}
	c.w = max(c.w, 70+float64(len(c.free))*24+2*cardPad)
	c.h = 2*cardPad + 18 + lineStep*float64(len(c.lines)+len(c.devices)) + 4
	if len(c.free) > 0 {
		c.h += 24
	}
}

// place puts the cards on a circle, in the order of the ring if there is one. Two cards
// go side by side, four to the corners of a rectangle.
func (d *drawing) place(machines int, s Shape) {
	order := make([]int, len(d.cards))
	for i := range order {
		order[i] = i
	}
	if len(s.Order) == machines && machines == len(d.cards) && s.Name != Mesh {
		order = s.Order
	}
	w, h := 0.0, 0.0
	for _, c := range d.cards {
		w, h = max(w, c.w), max(h, c.h)
	}
	n := len(order)
	rx, ry := w*0.95+60, h*0.75+90
	if n > 4 {
		around := float64(n) * (w + 130) / (2 * math.Pi)
		rx, ry = max(rx, around*1.15), max(ry, around*0.85)
	}
	for k, i := range order {
		var at point
		switch n {
		case 1:
		case 2:
			at = point{(float64(k)*2 - 1) * (w/2 + 130), 0}
		case 4:
			corner := [4]point{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}[k]
			at = point{corner.x * rx, corner.y * ry}
		default:
			a := -math.Pi/2 + 2*math.Pi*float64(k)/float64(n)
			at = point{math.Cos(a) * rx, math.Sin(a) * ry}
		}
		d.cards[i].box = around(at, d.cards[i].w, d.cards[i].h)
	}
	d.fit()
}

// fit moves the cards below the heading, with a margin, and sets the size of the page.
func (d *drawing) fit() {
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, c := range d.cards {
		left, top = min(left, c.x), min(top, c.y)
		right, bottom = max(right, c.x+c.w), max(bottom, c.y+c.h)
	}
	if len(d.cards) == 0 {
		left, top, right, bottom = 0, 0, 400, 10
	}
	const margin = 56.0
	d.w, d.h = max(right-left+2*margin, 760), bottom-top+2*margin
	dx := (d.w-(right-left))/2 - left
	for i := range d.cards {
		d.cards[i].x += dx
		d.cards[i].y += d.top + margin - top
	}
	d.h += d.top
}

func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return strings.TrimSpace(string(r[:n-1])) + "…"
	}
	return s
}
