package local

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// BoundEnv tells a rank that it has processors of its own, so that it may poll.
const BoundEnv = "THUNDER_BOUND=1"

// share returns the processors of one rank; false if there are not enough for all.
func share(rank, ranks int) (mine unix.CPUSet, ok bool) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil || all.Count() < ranks {
		return mine, false
	}
	each, seen := all.Count()/ranks, 0
	for cpu := 0; seen < (rank+1)*each; cpu++ {
		if all.IsSet(cpu) {
			if seen >= rank*each {
				mine.Set(cpu)
			}
			seen++
		}
	}
	return mine, true
}

// CanBind says whether that many ranks can have processors of their own.
func CanBind(ranks int) bool {
	_, ok := share(0, ranks)
	return ok
}

// bound calls start, which starts a process, with the processors of a rank: those
// of the calling thread are inherited.
func bound(rank, ranks int, start func() error) error {
	mine, ok := share(rank, ranks)
	if !ok {
		return start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil || unix.SchedSetaffinity(0, &mine) != nil {
		return start()
	}
	defer unix.SchedSetaffinity(0, &before)
	return start()
}
