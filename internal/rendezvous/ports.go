package rendezvous

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"thundercollective/internal/env"
)

// within returns a ListenFunc that picks ports from a range, the lowest that is free,
// where listen is asked for any port. All rails of a rank get the same one.
func within(ports env.PortRange, listen ListenFunc) ListenFunc {
	return func(at []string) ([]string, error) {
		if ports.First == 0 || !anyPort(at) {
			return listen(at)
		}
		var last error
		for port := ports.First; port <= ports.Last; port++ {
			addrs, err := listen(withPort(at, port))
			if !errors.Is(err, syscall.EADDRINUSE) {
				return addrs, err
			}
			last = err
		}
		return nil, fmt.Errorf("all ports of %s=%v are in use: %w", env.Ports, ports, last)
	}
}

// anyPort reports whether an address leaves the port open.
func anyPort(at []string) bool {
	for _, addr := range at {
		if e, err := parseEndpoint(addr); err == nil && e.port == 0 {
			return true
		}
	}
	return false
}

// withPort returns the addresses with a port where they leave it open.
func withPort(at []string, port int) []string {
	list := make([]string, len(at))
	for i, addr := range at {
		list[i] = addr
		if host, open, err := net.SplitHostPort(addr); err == nil && open == "0" {
			list[i] = net.JoinHostPort(host, strconv.Itoa(port))
		}
	}
	return list
}
