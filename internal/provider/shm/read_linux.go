package shm

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// errNoProcess is why the memory of a process that has ended cannot be read.
const errNoProcess = unix.ESRCH

// rawLimit is the longest read made without telling the scheduler, which would look after
// the call with a thread of its own and thus take the processor from it. The call only
// copies; should a page of the peer have to be fetched first, that takes as long as it
// takes the peer to touch it.
const rawLimit = 512 << 10

// readMemory fills b with what lies at an address of process pid.
func readMemory(pid uint32, at uintptr, b []byte) error {
	for len(b) > 0 {
		local := unix.Iovec{Base: &b[0]}
		part := min(len(b), rawLimit)
		local.SetLen(part)
		remote := unix.RemoteIovec{Base: at, Len: part}
		n, _, err := unix.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(pid),
			uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
		switch {
		case err == unix.EINTR:
			continue
		case err != 0:
			return err
		case n == 0:
			return unix.EFAULT
		}
		b, at = b[n:], at+n
	}
	return nil
}
