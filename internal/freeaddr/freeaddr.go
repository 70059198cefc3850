// Package freeaddr returns free addresses for tests to listen on, with ports from package
// freeport.
package freeaddr

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"

	"thundercollective/internal/freeport"
)

// On returns a free address (host:port) on each of the given IP addresses, all different.
// If this machine does not have one of the IP addresses, On skips the test.
func On(t testing.TB, ips ...string) []string {
	t.Helper()
	addrs := make([]string, len(ips))
	for i, ip := range ips {
		ln := listen(t, ip)
		defer ln.Close() // after all have been chosen, so that they differ
		addrs[i] = ln.Addr().String()
	}
	return addrs
}

func listen(t testing.TB, ip string) net.Listener {
	t.Helper()
	ln, err := freeport.Listen(ip)
	if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
		t.Skipf("SKIPPED: needs the address %s on this machine", ip)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// Loopback returns n free addresses on 127.0.0.1.
func Loopback(t testing.TB, n int) []string {
	t.Helper()
	return On(t, slices.Repeat([]string{"127.0.0.1"}, n)...)
}

// Rails returns free addresses for n ranks with two rails each, in the format of --addr.
// Rail i of rank r is on 127.0.i.(r+1).
func Rails(t testing.TB, n int) []string {
	t.Helper()
	addrs := make([]string, n)
	for r := range addrs {
		at := On(t, fmt.Sprintf("127.0.0.%d", r+1), fmt.Sprintf("127.0.1.%d", r+1))
		addrs[r] = strings.Join(at, ",")
	}
	return addrs
}
