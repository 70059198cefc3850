package local

import (
	"bytes"
	"slices"
	"strings"
)

// tailLines and tailBytes limit what a Tail keeps.
const (
	tailLines = 20
	tailBytes = 4 << 10
)

// A Tail keeps the last lines of a rank's output, for the report of its failure.
type Tail struct {
	lines []string
	bytes int
}

// Lines returns the lines, oldest first.
func (t *Tail) Lines() []string { return slices.Clone(t.lines) }

// Add appends output that consists of whole lines.
func (t *Tail) Add(p []byte) {
	if cut := len(p) - tailBytes; cut > 0 {
		p = p[cut:]
	}
	for line := range bytes.Lines(p) {
		s := strings.TrimRight(string(line), "\r\n")
		s = s[strings.LastIndexByte(s, '\r')+1:] // what a terminal would show
		t.lines = append(t.lines, s)
		t.bytes += len(s)
	}
	drop := max(0, len(t.lines)-tailLines)
	for _, s := range t.lines[:drop] {
		t.bytes -= len(s)
	}
	for t.bytes > tailBytes && drop < len(t.lines)-1 {
		t.bytes -= len(t.lines[drop])
		drop++
	}
	t.lines = slices.Delete(t.lines, 0, drop)
}
