package verbs

import (
	"fmt"
	"syscall"

	"thundercollective/internal/provider/rdma/internal/hca"
)

var libraryNames = []string{"librdma.dylib", "/usr/lib/librdma.dylib"}

const missingFix = "RDMA over Thunderbolt needs macOS 26.2 or later, Thunderbolt 5, and `rdma_ctl enable` run once in Recovery"

// errnoFunc returns 0: each call returns errno here.
func errnoFunc() (uintptr, error) { return 0, nil }

// adjust sets the limits of RDMA over Thunderbolt, which the device does not report, or
// reports wrongly.
func adjust(l *hca.Limits) {
	l.FrameSize = 4096
	l.HopLimit = 1
	l.MaxSGE = 1
	l.MaxQP = least(l.MaxQP, 10)
	l.MaxMR = least(l.MaxMR, 100)
	l.MaxMRSize = 1 << 30 // larger ones are known to corrupt data from 4 GiB on
	l.MaxMessage = 16_773_120
	var major, minor int
	if v, err := syscall.Sysctl("kern.osproductversion"); err == nil {
		fmt.Sscanf(v, "%d.%d", &major, &minor)
	}
	if major < 26 || major == 26 && minor < 3 {
		l.MaxMessage = 4096
	}
}

// least returns the smaller of what a device reports, if it does, and a bound.
func least(reported, bound int) int {
	if reported <= 0 {
		return bound
	}
	return min(reported, bound)
}

func isRoCEv1(string, int, int) bool { return false }
