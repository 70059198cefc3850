package tcp

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rawLimit is the longest transfer made without telling the scheduler, which would
// look after the call with a thread of its own every 20 µs and thus take the processor
// from it. Sockets do not block, so all that the call does is to copy, and a garbage
// collection waits for that as it waits for any other loop.
const rawLimit = callMost + headerSize

// gatherLimit is up to where two buffers are copied into one: vectored calls take
// longer than that. A header and 8 KiB.
const gatherLimit = 8<<10 + headerSize

// aheadSize is how much is read for a short message, should more be there: whoever
// follows a peer that runs ahead finds several of its messages in one call.
const aheadSize = 32 << 10

// vector is the pair of buffers of one call.
type vector struct {
	a, b   []byte
	iov    [2]unix.Iovec
	gather []byte // both, where they are copied into one; made on first use
	ahead  []byte // what was read beyond the call's buffers, in gather, to whose end it can grow
}

// set describes a then b, either of which may be empty, and returns the total.
func (v *vector) set(a, b []byte) int {
	v.a, v.b = a, b
	return len(a) + len(b)
}

// one returns the single buffer that a call can use, nil if it takes two.
func (v *vector) one(total int) []byte {
	switch {
	case len(v.a) == 0:
		return v.b
	case len(v.b) == 0:
		return v.a
	case total > gatherLimit:
		return nil
	case v.gather == nil:
		v.gather = make([]byte, gatherLimit)
	}
	return v.gather[:total]
}

// spread fills the buffers from p and returns how much of it that took.
func (v *vector) spread(p []byte) int {
	n := copy(v.a, p)
	return n + copy(v.b, p[n:])
}

// taken fills the buffers with what an earlier call read ahead, and returns how much
// there was.
func (v *vector) taken() int {
	if len(v.ahead) == 0 {
		return 0
	}
	n := v.spread(v.ahead)
	v.ahead = v.ahead[n:]
	return n
}

// readv fills the buffers from a non-blocking socket. Where there are none it reads
// ahead.
func (v *vector) readv(fd uintptr, total int) (int, error) {
	switch {
	case total > gatherLimit && len(v.a) > 0:
		return v.both(unix.SYS_READV, fd, total)
	case total > gatherLimit:
		return receive(fd, v.b)
	}
	n, err := v.fill(fd)
	if n > 0 && total > 0 {
		n = v.taken()
	}
	return n, err
}

// fill reads ahead, behind what has been.
func (v *vector) fill(fd uintptr) (int, error) {
	n, err := receive(fd, v.room())
	v.ahead = v.ahead[:len(v.ahead)+n]
	return n, err
}

// room returns where to read ahead to, behind what has been.
func (v *vector) room() []byte {
	switch {
	case v.gather == nil:
		v.gather = make([]byte, aheadSize)
		fallthrough
	case len(v.ahead) == 0:
		v.ahead = v.gather[:0]
	case cap(v.ahead) < gatherLimit: // what the message that it begins may take
		v.ahead = v.gather[:copy(v.gather, v.ahead)]
	}
	return v.ahead[len(v.ahead):cap(v.ahead)]
}

// receive is a plain call.
func receive(fd uintptr, p []byte) (int, error) {
	return call(unix.SYS_RECVFROM, len(p), fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0)
}

// writev writes the buffers to a non-blocking socket.
func (v *vector) writev(fd uintptr, total int) (int, error) {
	p := v.one(total)
	if p == nil {
		return v.both(unix.SYS_WRITEV, fd, total)
	}
	if len(v.a) > 0 && len(v.b) > 0 {
		copy(p[copy(p, v.a):], v.b)
	}
	return transmit(fd, p)
}

// transmit is a plain call.
func transmit(fd uintptr, p []byte) (int, error) {
	return call(unix.SYS_SENDTO, len(p), fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), unix.MSG_NOSIGNAL)
}

// both makes a vectored call.
func (v *vector) both(trap, fd uintptr, total int) (int, error) {
	v.iov[0].Base, v.iov[1].Base = unsafe.SliceData(v.a), unsafe.SliceData(v.b)
	v.iov[0].SetLen(len(v.a))
	v.iov[1].SetLen(len(v.b))
	return call(trap, total, fd, uintptr(unsafe.Pointer(&v.iov[0])), 2, 0)
}

// call makes a system call that moves up to total bytes.
func call(trap uintptr, total int, fd, p, n, flags uintptr) (int, error) {
	for {
		var r uintptr
		var e syscall.Errno
		if total <= rawLimit {
			r, _, e = syscall.RawSyscall6(trap, fd, p, n, flags, 0, 0)
		} else {
			r, _, e = unix.Syscall6(trap, fd, p, n, flags, 0, 0)
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
