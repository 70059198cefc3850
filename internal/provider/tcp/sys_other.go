//go:build !linux

package tcp

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// vector is the pair of buffers of one vectored call.
type vector struct {
	bufs [2][]byte
}

// set describes a then b, either of which may be empty, and returns the total.
func (v *vector) set(a, b []byte) int {
	v.bufs[0], v.bufs[1] = a, b
	return len(a) + len(b)
}

// taken is how much of the buffers an earlier call has filled: here, none reads ahead.
func (v *vector) taken() int { return 0 }

// readv fills the buffers from a non-blocking socket.
func (v *vector) readv(fd uintptr, _ int) (int, error) { return retry(unix.Readv, fd, v.bufs[:]) }

// writev writes the buffers to a non-blocking socket.
func (v *vector) writev(fd uintptr, _ int) (int, error) { return retry(unix.Writev, fd, v.bufs[:]) }

func retry(call func(int, [][]byte) (int, error), fd uintptr, bufs [][]byte) (int, error) {
	for {
		n, err := call(int(fd), bufs)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// yield lets another goroutine run on this processor if one wants to.
func yield() { runtime.Gosched() }
