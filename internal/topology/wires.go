package topology

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A socket is an end of a span on the edge of a card.
type socket struct {
	span, end int
	side      int // 0 right, 1 bottom, 2 left, 3 top
	pos       float64
}

var normals = [4]point{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}

// wire chooses where each cable leaves its card, keeps cables apart, and computes the
// curves.
func (d *drawing) wire(spans []span) {
	at := make([][]*socket, len(d.cards))
	ends := make([][2]*socket, len(spans))
	size, next := map[[2]int]int{}, map[[2]int]int{} // cables between two cards
	for _, s := range spans {
		size[s.key()]++
	}
	for i, s := range spans {
		k := float64(next[s.key()]) - float64(size[s.key()]-1)/2
		next[s.key()]++
		for e, pair := range [2][2]int{{s.a, s.b}, {s.b, s.a}} {
			so := d.socketOn(pair[0], pair[1], k*socketGap)
			so.span, so.end = i, e
			ends[i][e] = so
			at[pair[0]] = append(at[pair[0]], so)
		}
	}
	for i := range at {
		for side := range 4 {
			d.spread(i, side, at[i])
		}
	}
	for i, s := range spans {
		d.wires = append(d.wires, d.curve(s, ends[i]))
	}
}

// socketOn returns where a cable from card a to card b leaves card a, moved by shift
// along the edge.
func (d *drawing) socketOn(a, b int, shift float64) *socket {
	box, dir := d.cards[a].box, d.cards[b].centre().sub(d.cards[a].centre())
	if a == b {
		return &socket{side: 3, pos: shift}
	}
	if math.Abs(dir.x)*box.h >= math.Abs(dir.y)*box.w {
		so := &socket{side: 0, pos: dir.y/math.Abs(dir.x)*box.w/2 + shift}
		if dir.x < 0 {
			so.side = 2
		}
		return so
	}
	so := &socket{side: 1, pos: dir.x/math.Abs(dir.y)*box.h/2 + shift}
	if dir.y < 0 {
		so.side = 3
	}
	return so
}

// spread keeps the sockets on one side of a card apart, and within the card.
func (d *drawing) spread(i, side int, all []*socket) {
	var on []*socket
	for _, s := range all {
		if s.side == side {
			on = append(on, s)
		}
	}
	if len(on) == 0 {
		return
	}
	slices.SortStableFunc(on, func(a, b *socket) int { return cmp.Compare(a.pos, b.pos) })
	half := d.cards[i].w/2 - 20
	if side%2 == 0 {
		half = d.cards[i].h/2 - 20
	}
	gap := min(socketGap, 2*half/float64(max(1, len(on)-1)))
	total, sum := gap*float64(len(on)-1), 0.0
	for _, s := range on {
		sum += s.pos
	}
	centre := sum / float64(len(on))
	centre = max(-half+total/2, min(half-total/2, centre))
	for k, s := range on {
		s.pos = centre - total/2 + gap*float64(k)
	}
}

func (d *drawing) curve(s span, so [2]*socket) wire {
	w := wire{missing: s.cable == nil, colour: colourMissing, width: 3}
	var p, ctrl [2]point
	for e, card := range [2]int{s.a, s.b} {
		b, n := d.cards[card].box, normals[so[e].side]
		p[e] = b.centre().add(point{n.x * b.w / 2, n.y * b.h / 2}).add(point{math.Abs(n.y), math.Abs(n.x)}.scale(so[e].pos))
		ctrl[e] = n
		if far := d.cards[[2]int{s.b, s.a}[e]].centre().sub(b.centre()); far.length() > 0 {
			// The direction is half way between perpendicular to the edge and
			// straight to the other card: parallel cables stay parallel, and
			// diagonals bend little.
			ctrl[e] = n.add(far.unit().scale(1.2)).unit()
		}
		text := ""
		if s.ends[e].Port > 0 {
			text = fmt.Sprint(s.ends[e].Port)
		}
		w.plugs[e] = plugMark{at: p[e], along: so[e].side%2 == 1, text: text}
	}
	reach := max(36, p[0].sub(p[1]).length()*0.3)
	w.curve = bezier{p[0], p[0].add(ctrl[0].scale(reach)), p[1].add(ctrl[1].scale(reach)), p[1]}
	if s.cable != nil {
		w.colour, w.width = s.cable.colour(), s.cable.width()
		w.dotted = s.cable.Match == ByOneEnd && s.cable.B.Known()
		w.tip = s.cable.String() + ", " + s.cable.caption() + ", matched by " + s.cable.Match
		if len(s.cable.Via) > 0 {
			w.via, w.viaAt = strings.Join(s.cable.Via, " + "), w.curve.at(0.5)
		}
	}
	return w
}

// label places a caption on each cable where it covers nothing.
func (d *drawing) label(spans []span) {
	var taken []box
	for _, c := range d.cards {
		taken = append(taken, c.grown(12))
	}
	for _, w := range d.wires {
		if w.via != "" {
			taken = append(taken, around(w.viaAt, textWidth(w.via, 12)+24, 34))
		}
	}
	for i, s := range spans {
		text := "add this cable"
		if s.cable != nil {
			text = s.cable.caption()
		}
		width, height := textWidth(text, 12)+18, 22.0
		best, ok := d.spot(&d.wires[i].curve, width, height, taken)
		if !ok {
			continue // no room; colour and tooltip still identify the cable
		}
		taken = append(taken, best)
		d.labels = append(d.labels, label{best, text, d.wires[i].colour})
	}
}

// spot finds room for a label: on the curve if possible, otherwise next to it.
func (d *drawing) spot(c *bezier, w, h float64, taken []box) (box, bool) {
	for _, aside := range []float64{0, 32, -32} {
		for _, t := range []float64{0.5, 0.42, 0.58, 0.34, 0.66, 0.28, 0.72, 0.22, 0.78} {
			across := c.at(t + 0.01).sub(c.at(t - 0.01)).unit().turned()
			b := around(c.at(t).add(across.scale(aside)), w, h)
			if !slices.ContainsFunc(taken, b.grown(3).overlaps) {
				return b, true
			}
		}
	}
	return box{}, false
}
