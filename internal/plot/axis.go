package plot

import (
	"math"
	"strconv"
)

// An Axis maps numbers to positions and tick labels. The zero value is linear and labels
// plain numbers.
type Axis struct {
	Label  string
	Base   float64              // 2 or 10: logarithmic; 0: linear
	Format func(float64) string // formats a tick; nil for a plain number
}

func (a Axis) format(v float64) string {
	if a.Format != nil {
		return a.Format(v)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// shows reports whether v has a position on the axis: zero has none on a logarithmic axis,
// infinities and NaN have none on any.
func (a Axis) shows(v float64) bool {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return false
	}
	return a.Base == 0 || v > 0
}

// A span is the part of an axis that is drawn: [lo, hi] in the axis's own coordinate (the
// logarithm on a logarithmic axis) and its ticks.
type span struct {
	axis   Axis
	lo, hi float64
	ticks  []tick
}

type tick struct {
	at    float64 // in the axis's coordinate
	label string  // "" for a line without a label
}

func (a Axis) coord(v float64) float64 {
	switch a.Base {
	case 0:
		return v
	case 2:
		return math.Log2(v)
	default:
		return math.Log10(v) / math.Log10(a.Base)
	}
}

// part returns the position of v between the ends, 0 to 1.
func (s span) part(v float64) float64 { return s.place(s.axis.coord(v)) }

func (s span) place(coord float64) float64 { return (coord - s.lo) / (s.hi - s.lo) }

// span returns the span that covers all values the axis shows.
func (a Axis) span(values []float64) span {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if a.shows(v) {
			c := a.coord(v)
			lo, hi = min(lo, c), max(hi, c)
		}
	}
	if lo > hi {
		return span{axis: a, lo: 0, hi: 1}
	}
	switch a.Base {
	case 0:
		return a.linear(min(lo, 0), hi)
	case 2:
		return a.powers(lo, hi)
	default:
		return a.decades(lo, hi)
	}
}

// maxTicks is the number of labels that fit along an axis without overlapping.
const maxTicks = 8

// powers labels powers of the base at a round step, so that with base 2 the multiples of
// 1024 are labelled.
func (a Axis) powers(lo, hi float64) span {
	if hi-lo < 1 {
		lo, hi = lo-0.5, hi+0.5
	}
	s := span{axis: a, lo: lo, hi: hi}
	step := 1.0
	for _, step = range []float64{1, 2, 5, 10, 20} {
		if (hi-lo)/step <= maxTicks {
			break
		}
	}
	for e := math.Ceil(lo/step) * step; e <= hi; e += step {
		s.ticks = append(s.ticks, tick{e, a.format(math.Pow(a.Base, e))})
	}
	return s
}

// decades extends the span to 1, 2 or 5 times a power of ten and draws a line at each of
// these. It labels the powers, and the others if there are few lines.
func (a Axis) decades(lo, hi float64) span {
	marks := []float64{0, math.Log10(2), math.Log10(5), 1}
	down, up := math.Floor(lo), math.Floor(hi)
	for i := len(marks) - 1; i >= 0; i-- {
		if down+marks[i] <= lo+1e-9 {
			lo = down + marks[i]
			break
		}
	}
	for _, m := range marks {
		if up+m >= hi-1e-9 {
			hi = up + m
			break
		}
	}
	if hi-lo < 0.3 {
		lo, hi = lo-marks[1], hi+marks[1]
	}
	s := span{axis: a, lo: lo, hi: hi}
	for e := math.Floor(lo); e <= hi; e++ {
		for i, m := range marks[:3] {
			c := e + m
			if c < lo-1e-9 || c > hi+1e-9 {
				continue
			}
			t := tick{at: c}
			if i == 0 || hi-lo <= 2.5 {
				t.label = a.format([]float64{1, 2, 5}[i] * math.Pow(10, e))
			}
			s.ticks = append(s.ticks, t)
		}
	}
	return s
}

func (a Axis) linear(lo, hi float64) span {
	if hi == lo {
		hi = lo + 1
	}
	raw := (hi - lo) / maxTicks
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	step := unit
	for _, m := range []float64{1, 2, 5, 10} {
		if step = unit * m; step >= raw {
			break
		}
	}
	s := span{axis: a, lo: math.Floor(lo/step) * step, hi: math.Ceil(hi/step) * step}
	for i := 0; ; i++ {
		v := s.lo + float64(i)*step
		if v > s.hi+step/2 {
			return s
		}
		s.ticks = append(s.ticks, tick{v, a.format(v)})
	}
}
