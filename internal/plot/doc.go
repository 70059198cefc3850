// Package plot draws the few pictures the tools need, using only the standard
// library: line charts and heat maps as SVG, and one-line charts made of characters
// for a terminal.
//
// An SVG is self-contained: no scripts, no fonts to download, no external references.
// It follows the reader's preference for light or dark through a media query, and its
// colours can be told apart by readers with red-green colour blindness.
//
//	c := plot.Chart{Title: "allreduce, 4 ranks", Panels: []plot.Panel{{
//		Title: "Latency",
//		X:     plot.Axis{Label: "message size", Base: 2, Format: bench.FormatSize},
//		Y:     plot.Axis{Label: "time", Base: 10},
//		Series: []plot.Series{{Name: "tcp", X: sizes, Y: micros}},
//	}}}
//	err := c.WriteSVG(w)
package plot
