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

// naps are the times after which a sleeper looks up although nobody has woken it. What
// was published while it lay down, without a fence, is there after the first one: it
// needs no longer than a line of memory takes from one core to another.
var naps = [...]unix.Timespec{{Nsec: 100e3}, {Nsec: 1e6}, {Nsec: 10e6}, {Nsec: 100e6}, {Sec: 1}}

// futexWait sleeps while *word is old, for the n-th time in a row. It may return at any
// time.
func futexWait(word *atomic.Uint32, old uint32, n int) {
	nap := &naps[min(n, len(naps)-1)]
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitOp, uintptr(old), uintptr(unsafe.Pointer(nap)), 0, 0)
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
