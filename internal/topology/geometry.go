package topology

import "math"

type point struct{ x, y float64 }

func (p point) add(q point) point     { return point{p.x + q.x, p.y + q.y} }
func (p point) sub(q point) point     { return point{p.x - q.x, p.y - q.y} }
func (p point) scale(k float64) point { return point{p.x * k, p.y * k} }
func (p point) length() float64       { return math.Hypot(p.x, p.y) }

// unit returns the direction of p; that of the zero vector is to the right.
func (p point) unit() point {
	if l := p.length(); l > 1e-9 {
		return p.scale(1 / l)
	}
	return point{1, 0}
}

// turned returns p rotated by 90 degrees.
func (p point) turned() point { return point{-p.y, p.x} }

type box struct{ x, y, w, h float64 }

func around(p point, w, h float64) box { return box{p.x - w/2, p.y - h/2, w, h} }

func (b box) centre() point       { return point{b.x + b.w/2, b.y + b.h/2} }
func (b box) grown(d float64) box { return box{b.x - d, b.y - d, b.w + 2*d, b.h + 2*d} }

func (b box) overlaps(c box) bool {
	return b.x < c.x+c.w && c.x < b.x+b.w && b.y < c.y+c.h && c.y < b.y+b.h
}

// A bezier is a cubic curve.
type bezier [4]point

func (c bezier) at(t float64) point {
	u := 1 - t
	return c[0].scale(u * u * u).add(c[1].scale(3 * u * u * t)).add(c[2].scale(3 * u * t * t)).add(c[3].scale(t * t * t))
}

// textWidth estimates the width of a text in a sans-serif font. It is rather too wide.
func textWidth(s string, px float64) float64 { return float64(len([]rune(s))) * px * 0.6 }
