package topology

import (
	"math"
	"strings"
)

// Colours of cables, by what they carry. They are distinguishable with red-green colour
// blindness.
const (
	colourRDMA     = "#009e73"
	colourTCP      = "#0072b2"
	colourIdle     = "#e08a00"
	colourOneEnded = "#d5401e"
	colourMissing  = "#c2569b"
	colourStranger = "#8b95a1"
)

// colour returns the cable's colour in all pictures.
func (c *Cable) colour() string {
	switch {
	case !c.A.Known() || !c.B.Known():
		return colourStranger
	case c.Match == ByOneEnd:
		return colourOneEnded
	case c.Transport == OverRDMA:
		return colourRDMA
	case c.Transport == OverTCP:
		return colourTCP
	}
	return colourIdle
}

// width returns the cable's width in all pictures: its cross section grows with its
// speed.
func (c *Cable) width() float64 {
	gbps := c.Gbps
	if gbps == 0 {
		gbps = 10
	}
	return math.Min(12, 1.5+0.75*math.Sqrt(gbps))
}

// caption returns the cable's label: "80 Gb/s · RDMA".
func (c *Cable) caption() string {
	var parts []string
	if s := c.Speed(); s != "" {
		parts = append(parts, s)
	} else {
		parts = append(parts, c.Label())
	}
	switch {
	case !c.A.Known() || !c.B.Known():
	case c.Match == ByOneEnd:
		parts = append(parts, "seen from one end")
	case c.Transport == OverRDMA:
		parts = append(parts, "RDMA")
	case c.Transport == OverTCP:
		parts = append(parts, "TCP")
	default:
		parts = append(parts, "no address")
	}
	return strings.Join(parts, " · ")
}
