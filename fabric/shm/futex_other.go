//go:build !linux

package shm

import "sync/atomic"

// There are no segments on this system, hence nothing to wait for.
func futexWait(*atomic.Uint32, uint32, int) {}
func futexWake(*atomic.Uint32)              {}
func yield()                                {}
func core() uint32                          { return 0 }
