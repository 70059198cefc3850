package shm

import (
	"math"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexWaitOp = 0
	futexWakeOp = 1
)

// futexWait sleeps while *word is old. It may return at any time.
func futexWait(word *atomic.Uint32, old uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitOp, uintptr(old), 0, 0, 0)
}

// futexWake wakes all who sleep on word.
func futexWake(word *atomic.Uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakeOp, math.MaxInt32, 0, 0, 0)
}

// yield lets another thread run on this processor if one wants to.
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
