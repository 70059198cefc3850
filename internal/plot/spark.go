package plot

import (
	"math"
	"strings"
)

// Spark draws values as a line of block characters, one for each value, on a logarithmic
// scale from the smallest to the largest. Values that are not positive and finite become
// blanks.
func Spark(values []float64) string {
	const blocks = "▁▂▃▄▅▆▇█"
	levels := []rune(blocks)
	axis := Axis{Base: 10}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if axis.shows(v) {
			lo, hi = min(lo, axis.coord(v)), max(hi, axis.coord(v))
		}
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case !axis.shows(v):
			b.WriteByte(' ')
		case hi == lo:
			b.WriteRune(levels[len(levels)/2])
		default:
			i := (axis.coord(v) - lo) / (hi - lo) * float64(len(levels)-1)
			b.WriteRune(levels[int(math.Round(i))])
		}
	}
	return b.String()
}

// Bar draws a horizontal bar that is width characters long when v is max, with a resolution
// of an eighth of a character.
func Bar(v, max float64, width int) string {
	if !(v > 0) || !(max > 0) || width <= 0 {
		return ""
	}
	eighths := int(math.Round(math.Min(v/max, 1) * float64(width) * 8))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return bar
}
