package ticks

import (
	"os"
	"strings"
)

// reliable reports whether the counter has a constant rate and is the same on all
// processors. The system has checked that if it uses the counter for its own clock.
func reliable() bool {
	b, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	return err == nil && strings.TrimSpace(string(b)) == "tsc"
}
