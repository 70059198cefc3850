package local

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// share returns the processors of one rank: its own, or one shared with as few other ranks
// as possible; false if the system does not report its processors.
func share(rank, ranks int) (mine unix.CPUSet, ok bool) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil || all.Count() == 0 {
		return mine, false
	}
	each := max(1, all.Count()/ranks)
	first, seen := rank*each%all.Count(), 0
	for cpu := 0; seen < first+each; cpu++ {
		if all.IsSet(cpu) {
			if seen >= first {
				mine.Set(cpu)
			}
			seen++
		}
	}
	return mine, true
}

// CanBind reports whether so many ranks can each have processors of their own.
func CanBind(ranks int) bool {
	var all unix.CPUSet
	return unix.SchedGetaffinity(0, &all) == nil && all.Count() >= ranks
}

// bound calls start, which starts a process, with the calling thread bound to the
// processors of a rank: the process inherits them.
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
