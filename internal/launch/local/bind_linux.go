package local

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// share returns the processors of one rank: its own, or one that as few others as
// possible have as well; false if the system does not say what there is.
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

// CanBind says whether that many ranks can have processors of their own.
func CanBind(ranks int) bool {
	var all unix.CPUSet
	return unix.SchedGetaffinity(0, &all) == nil && all.Count() >= ranks
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
