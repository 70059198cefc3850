package shm

import (
	"golang.org/x/sys/unix"
)

// errNoProcess is why the memory of a process that has ended cannot be read.
const errNoProcess = unix.ESRCH

// readMemory fills b with what lies at an address of process pid.
func readMemory(pid uint32, at uintptr, b []byte) error {
	for len(b) > 0 {
		local := [1]unix.Iovec{{Base: &b[0]}}
		local[0].SetLen(len(b))
		remote := [1]unix.RemoteIovec{{Base: at, Len: len(b)}}
		n, err := unix.ProcessVMReadv(int(pid), local[:], remote[:], 0)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case n <= 0:
			return unix.EFAULT
		}
		b, at = b[n:], at+uintptr(n)
	}
	return nil
}
