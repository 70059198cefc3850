package e2e_test

import (
	"bytes"
	"fmt"
	"os"
)

// peakMemory returns the most memory this process has had resident, in bytes.
func peakMemory() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kib int64
	if _, err := fmt.Sscan(string(rest), &kib); err != nil {
		return 0, fmt.Errorf("no VmHWM in /proc/self/status: %w", err)
	}
	return kib << 10, nil
}
