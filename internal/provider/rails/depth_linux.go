package rails

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// A depth bounds how many unsent bytes a TCP connection accepts from its writer. Its
// methods do not allocate.
type depth struct {
	raw syscall.RawConn // nil if it is not a TCP connection
	n   int
	set func(fd uintptr)
}

func newDepth(c Conn) *depth {
	d := &depth{}
	d.set = func(fd uintptr) { unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, d.n) }
	if sc, ok := c.(syscall.Conn); ok {
		d.raw, _ = sc.SyscallConn()
	}
	return d
}

// to sets the bound to about n bytes.
func (d *depth) to(n int) {
	if d.raw != nil && (n > 2*d.n || n < d.n/2) {
		d.n = n
		d.raw.Control(d.set)
	}
}
