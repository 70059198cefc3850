// Package freeport finds ports that somebody else is to listen at in a moment.
//
// They are drawn at random from those that systems do not hand out by themselves: what
// a system gives to one who asks for any port, it may give to the next connection that
// anybody makes, before the port is used.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

const (
	first = 10_000
	ports = 20_000
	tries = 100
)

// Listen listens at a port of host that is free at all addresses of this machine, so
// that who gets it may listen at all of them.
func Listen(host string) (*net.TCPListener, error) {
	var last error
	for range tries {
		port := strconv.Itoa(first + rand.IntN(ports))
		everywhere, err := net.Listen("tcp", net.JoinHostPort("", port))
		if err == nil {
			everywhere.Close()
			var ln net.Listener
			if ln, err = net.Listen("tcp", net.JoinHostPort(host, port)); err == nil {
				return ln.(*net.TCPListener), nil
			}
		}
		if last = err; !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("no free port in %d tries: %w", tries, last)
}
