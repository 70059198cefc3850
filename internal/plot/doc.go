// Package plot draws the few pictures the tools need, with nothing but the
// standard library: line charts over logarithmic axes and heat maps as SVG, and
// one-line charts made of characters for a terminal.
//
// An SVG written here stands alone: no scripts, no fonts to fetch, no outside
// references. It follows the reader's light or dark preference through a media
// query, and uses colours that people who do not see red and green apart can
// tell from each other.
//
//	c := plot.Chart{Title: "allreduce, 4 ranks", Panels: []plot.Panel{{
//		Title: "Latency",
//		X:     plot.Axis{Label: "message size", Base: 2, Format: bench.FormatSize},
//		Y:     plot.Axis{Label: "time", Base: 10},
//		Series: []plot.Series{{Name: "tcp", X: sizes, Y: micros}},
//	}}}
//	err := c.WriteSVG(w)
package plot
