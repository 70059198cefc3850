package shm

import (
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// futexes: a process can wake threads that sleep in another one.
const futexes = true

const (
	futexWaitOp = 0
	futexWakeOp = 1
)

// futexWait sleeps while *word is old, for a nap at most. It may return at any time.
func futexWait(word *atomic.Uint32, old uint32, nap time.Duration) {
	limit := unix.NsecToTimespec(int64(nap))
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitOp, uintptr(old), uintptr(unsafe.Pointer(&limit)), 0, 0)
}

// futexWake wakes all who sleep on word.
func futexWake(word *atomic.Uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakeOp, math.MaxInt32, 0, 0, 0)
}

// yield lets another thread run on this processor if one wants to.
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// core returns the number of the processor that runs this, for now.
func core() uint32 {
	var cpu uint32
	unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0)
	return cpu
}
