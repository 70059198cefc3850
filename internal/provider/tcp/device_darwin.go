package tcp

import (
	"net"

	"golang.org/x/sys/unix"
)

// bindDevice makes a socket's packets leave by one interface.
func bindDevice(fd uintptr, device string, v6 bool) error {
	ifi, err := net.InterfaceByName(device)
	if err != nil {
		return err
	}
	if v6 {
		return unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_BOUND_IF, ifi.Index)
	}
	return unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BOUND_IF, ifi.Index)
}
