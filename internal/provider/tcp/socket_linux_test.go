package tcp

import (
	"net"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCongestionControl looks at what connections that stay on this machine use.
func TestCongestionControl(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSocket(c.(*net.TCPConn))
	if err != nil {
		c.Close()
		t.Fatal(err)
	}
	defer s.Close()
	got, err := unix.GetsockoptString(s.(*gatedSocket).fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil {
		t.Fatal(err)
	}
	if got = strings.TrimRight(got, "\x00"); got != "reno" {
		t.Errorf("a connection over loopback uses %q", got)
	}
}
