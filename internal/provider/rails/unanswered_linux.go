package rails

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// unanswered returns how long the other machine has not acknowledged packets of a TCP
// connection; 0 if none are outstanding, or if it is not a TCP connection.
func unanswered(c Conn) time.Duration {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0
	}
	var since time.Duration
	raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil && info.Unacked > 0 {
			since = time.Duration(info.Last_ack_recv) * time.Millisecond
		}
	})
	return since
}
