package bench

import (
	"os"
	"runtime"
	"strings"
)

// CPU returns the name of this machine's processor.
func CPU() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(info)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH // arm64 kernels give no name
}

// cores returns the number of processors of this machine, including those that this process
// may not use.
func cores() int {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.NumCPU()
	}
	return max(runtime.NumCPU(), strings.Count("\n"+string(info), "\nprocessor\t"))
}
