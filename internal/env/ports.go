package env

import (
	"fmt"
	"strconv"
	"strings"
)

// A PortRange is the value of a variable of kind Ports. It is zero if that is not set.
type PortRange struct{ First, Last int }

func (p PortRange) String() string { return fmt.Sprintf("%d-%d", p.First, p.Last) }

// parsePorts parses "first-last", or one port.
func parsePorts(text string) (PortRange, bool) {
	first, last, two := strings.Cut(text, "-")
	if !two {
		last = first
	}
	a, errA := strconv.ParseUint(strings.TrimSpace(first), 10, 16)
	b, errB := strconv.ParseUint(strings.TrimSpace(last), 10, 16)
	return PortRange{int(a), int(b)}, errA == nil && errB == nil && 0 < a && a <= b
}

// Ports returns a range of ports; zero if it is not set.
func (r *Reader) Ports(name string) PortRange {
	_, text := r.value(name, PortsKind)
	p, ok := parsePorts(text)
	if !ok {
		return PortRange{}
	}
	return p
}
