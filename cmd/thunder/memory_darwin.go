package main

import "golang.org/x/sys/unix"

// availableMemory is how many bytes the machine has, 0 if unknown: macOS gives up
// what it caches when programs need it.
func availableMemory() int64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(bytes)
}
