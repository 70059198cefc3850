package doctor

import (
	"fmt"
	"math"

	"thundercollective/internal/topology"
)

// An Expectation holds the rates that a cable should reach in one direction, in GB/s.
type Expectation struct {
	Champagne   float64 `json:"champagne"`   // the best that is possible
	Fine        float64 `json:"fine"`        // below this, look for the reason
	Investigate float64 `json:"investigate"` // below this, something is wrong
	Why         string  `json:"why"`
}

// maxTCP is the limit of the sockets of a desktop machine, for any card.
const maxTCP = 5.5

// Expect returns what a transport should reach on a cable.
//
// For Thunderbolt 5 (80 Gb/s) that is 7.0, 6 and 3 GB/s with RDMA, and 5.5 GB/s with TCP.
// Slower Thunderbolt cables scale with their speed, except for TCP between two Linux
// machines, where thunderbolt-net uses one ring pair and reaches about a quarter of the
// cable's rate. Network cards reach most of their line rate, or of their PCIe link if that
// is slower.
func Expect(g *topology.Graph, c *topology.Cable, transport string) Expectation {
	gbs, limit := c.Gbps/8, c.Speed()
	if c.Kind == topology.Thunderbolt {
		if transport == topology.OverRDMA {
			return Expectation{0.7 * gbs, 0.6 * gbs, 0.3 * gbs, "RDMA over " + limit + " Thunderbolt"}
		}
		if bothLinux(g, c) {
			return Expectation{0.3 * gbs, 0.22 * gbs, 0.11 * gbs, "thunderbolt-net over " + limit + ", one ring pair"}
		}
		return Expectation{0.6 * gbs, 0.55 * gbs, 0.275 * gbs, "TCP over " + limit + " Thunderbolt"}
	}
	for _, e := range []topology.End{c.A, c.B} {
		if p, text := pcieLimit(g, e); p > 0 && p < gbs {
			gbs, limit = p, text
		}
	}
	if transport == topology.OverRDMA {
		return Expectation{0.89 * gbs, 0.76 * gbs, 0.38 * gbs, "RDMA over " + limit}
	}
	return Expectation{math.Min(0.93*gbs, maxTCP), math.Min(0.85*gbs, maxTCP), math.Min(0.4*gbs, maxTCP/2), "TCP over " + limit}
}

func bothLinux(g *topology.Graph, c *topology.Cable) bool {
	return g.Machines[c.A.Machine].OS.Kind == "linux" && g.Machines[c.B.Machine].OS.Kind == "linux"
}

// pcieLimit returns the rate of the PCIe link of an end's card.
func pcieLimit(g *topology.Graph, e topology.End) (gbs float64, text string) {
	for _, d := range g.Machines[e.Machine].PCI {
		for _, itf := range d.Interfaces {
			if itf == e.Interface && d.Width > 0 {
				return pcieGBs(d.Speed, d.Width), fmt.Sprintf("PCIe %g GT/s x%d", d.Speed, d.Width)
			}
		}
	}
	return 0, ""
}

// Grade rates a measured rate in GB/s.
func (e Expectation) Grade(gbs float64) (Status, string) {
	switch {
	case gbs >= e.Champagne:
		return Pass, "champagne"
	case gbs >= e.Fine:
		return Pass, "fine"
	case gbs >= e.Investigate:
		return Warn, "investigate"
	}
	return Fail, "stop"
}
