package main

import "golang.org/x/sys/unix"

// availableMemory returns the memory of the machine in bytes, or 0 if unknown. macOS frees
// cached memory when programs need it.
func availableMemory() int64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(bytes)
}
