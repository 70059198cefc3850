// Package freeport finds free ports for another program to listen on.
//
// It chooses ports at random outside of the range that systems use for outgoing
// connections. A port in that range, such as one from listening on port 0, could be taken
// by a connection before the other program listens on it.
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

// Listen listens on host, on a port that is free on all addresses of this machine, so that
// another program can listen on all of them after the listener is closed.
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
	return nil, fmt.Errorf("no free port in %d attempts: %w", tries, last)
}
