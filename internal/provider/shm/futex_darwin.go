package shm

import (
	"runtime"
	"sync/atomic"
	"time"
)

// futexes: a process can wake threads that sleep in another one. What macOS has of that
// kind is private to it, or new: ranks knock.
const futexes = false

func futexWait(*atomic.Uint32, uint32, time.Duration) {}
func futexWake(*atomic.Uint32)                        {}

// yield lets another goroutine run on this processor if one wants to. To let other
// processes run, a program here has to sleep.
func yield() { runtime.Gosched() }

// core returns the same on all processors: programs cannot find out.
func core() uint32 { return 0 }
