package main

import (
	"fmt"
	"os"
	"strings"
)

// availableMemory returns how many bytes can be allocated without swapping, or 0 if
// unknown.
func availableMemory() int64 {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(info)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	return 0
}
