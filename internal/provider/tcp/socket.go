package tcp

import (
	"net"
	"syscall"
	"time"
)

// A socket is a connection whose readers and writers make their own system calls
// and wait for readiness in between. Each direction has one user at a time.
type socket interface {
	// read calls try, with the descriptor, until it returns true, waiting each
	// time until there may be something to read. Interrupted or closed, it
	// returns an error.
	read(try func(fd uintptr) bool) error
	// write does the same for writing.
	write(try func(fd uintptr) bool) error
	// interruptRead(true) makes read return; interruptRead(false) lets it wait
	// again.
	interruptRead(stop bool)
	interruptWrite(stop bool)
	// Close unblocks read and write. What was written is still delivered.
	Close() error
}

// A plainSocket waits in the runtime's poller.
type plainSocket struct {
	*net.TCPConn
	raw syscall.RawConn
}

func newPlainSocket(c *net.TCPConn) (socket, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	return plainSocket{c, raw}, nil
}

func (s plainSocket) read(try func(fd uintptr) bool) error  { return s.raw.Read(try) }
func (s plainSocket) write(try func(fd uintptr) bool) error { return s.raw.Write(try) }
func (s plainSocket) interruptRead(stop bool)               { s.SetReadDeadline(deadline(stop)) }
func (s plainSocket) interruptWrite(stop bool)              { s.SetWriteDeadline(deadline(stop)) }

// deadline is one that has passed, or none.
func deadline(passed bool) time.Time {
	if passed {
		return time.Unix(1, 0)
	}
	return time.Time{}
}
