package local

import (
	"bytes"
	"syscall"

	"golang.org/x/sys/unix"
)

// marked returns the processes whose environment has the entry mark. Those of other users
// cannot be read, and are not ours.
func marked(mark string) []int {
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.uid", unix.Getuid())
	if err != nil {
		return nil
	}
	var pids []int
	for _, p := range procs {
		pid := int(p.Proc.P_pid)
		if args, err := unix.SysctlRaw("kern.procargs2", pid); err == nil && bytes.Contains(args, []byte(mark)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// groupAlive reports whether a process of the group can still run. The kernel does not
// signal dead members that have not been reaped.
func groupAlive(group int) bool { return syscall.Kill(-group, 0) == nil }
