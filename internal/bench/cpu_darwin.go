package bench

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// CPU returns the name of this machine's processor.
func CPU() string {
	name, err := unix.Sysctl("machdep.cpu.brand_string")
	if err != nil || name == "" {
		return runtime.GOARCH
	}
	return name
}

// cores returns the number of processors of this machine.
func cores() int { return runtime.NumCPU() }
