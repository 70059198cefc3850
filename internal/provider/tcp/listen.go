package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// A Listener holds the sockets on which a rank's peers will reach it. They are
// open before the addresses are told to anybody.
type Listener struct {
	lns []net.Listener
}

// Listen opens one socket per address (host:port; port 0 picks a free one).
// Hosts are IPv4, IPv6, or link-local IPv6 with a zone: [fe80::1%eth0]:7000.
func Listen(addrs ...string) (*Listener, error) {
	if len(addrs) == 0 {
		return nil, errors.New("tcp: no address to listen on")
	}
	l := &Listener{}
	// What a connection needs to be watched is set when it has proved itself.
	lc := net.ListenConfig{KeepAlive: -1}
	for _, addr := range addrs {
		ln, err := lc.Listen(context.Background(), "tcp", addr)
		if err != nil {
			l.Close()
			return nil, listenError(addr, err)
		}
		l.lns = append(l.lns, ln)
	}
	return l, nil
}

// listenError adds what to do about the usual causes.
func listenError(addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("tcp: listen on %s: the port is in use; stop the program that has it or choose another port: %w", addr, err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("tcp: listen on %s: no interface of this machine has that address; check the rank and its address: %w", addr, err)
	}
	return fmt.Errorf("tcp: listen on %s: %w", addr, err)
}

// Addrs returns the addresses that were bound, in the order they were asked for.
func (l *Listener) Addrs() []string {
	addrs := make([]string, len(l.lns))
	for i, ln := range l.lns {
		addrs[i] = ln.Addr().String()
	}
	return addrs
}

// Close closes the sockets. A Listener that was given to New is closed by its
// Fabric.
func (l *Listener) Close() error {
	var errs []error
	for _, ln := range l.lns {
		errs = append(errs, ln.Close())
	}
	return errors.Join(errs...)
}
