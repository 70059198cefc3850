package tcp

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rawLimit is the longest transfer made without telling the scheduler; it copies
// for a few microseconds at most.
const rawLimit = 16 << 10

// vector is the pair of buffers of one vectored call.
type vector struct {
	iov [2]unix.Iovec
}

// set describes a then b, either of which may be empty, and returns the total.
func (v *vector) set(a, b []byte) int {
	v.iov[0].Base, v.iov[1].Base = unsafe.SliceData(a), unsafe.SliceData(b)
	v.iov[0].SetLen(len(a))
	v.iov[1].SetLen(len(b))
	return len(a) + len(b)
}

// readv fills the buffers from a non-blocking socket.
func (v *vector) readv(fd uintptr, total int) (int, error) { return v.call(unix.SYS_READV, fd, total) }

// writev writes the buffers to a non-blocking socket.
func (v *vector) writev(fd uintptr, total int) (int, error) {
	return v.call(unix.SYS_WRITEV, fd, total)
}

func (v *vector) call(trap, fd uintptr, total int) (int, error) {
	iov, n := uintptr(unsafe.Pointer(&v.iov[0])), uintptr(2)
	if v.iov[0].Len == 0 {
		iov, n = uintptr(unsafe.Pointer(&v.iov[1])), 1
	}
	for {
		var r uintptr
		var e syscall.Errno
		if total <= rawLimit {
			r, _, e = unix.RawSyscall(trap, fd, iov, n)
		} else {
			r, _, e = unix.Syscall(trap, fd, iov, n)
		}
		switch e {
		case 0:
			return int(r), nil
		case unix.EINTR:
		default:
			return 0, e
		}
	}
}

// yield lets another thread run on this processor if one wants to.
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// bindDevice makes a socket's packets leave by one interface.
func bindDevice(fd uintptr, device string, _ bool) error {
	return unix.BindToDevice(int(fd), device)
}
