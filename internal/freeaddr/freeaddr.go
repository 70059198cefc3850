// Package freeaddr finds addresses that tests can listen at, with ports of package
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

// On returns a free address on each of the given IP addresses, all different. Without
// one of those on this machine the test is skipped.
func On(t testing.TB, ips ...string) []string {
	t.Helper()
	addrs := make([]string, len(ips))
	for i, ip := range ips {
		ln := listen(t, ip)
		defer ln.Close() // when all are drawn, so that they differ
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

// Rails returns free addresses for n ranks with two rails each, as --addr takes them:
// rail i of rank r is at 127.0.i.(r+1).
func Rails(t testing.TB, n int) []string {
	t.Helper()
	addrs := make([]string, n)
	for r := range addrs {
		at := On(t, fmt.Sprintf("127.0.0.%d", r+1), fmt.Sprintf("127.0.1.%d", r+1))
		addrs[r] = strings.Join(at, ",")
	}
	return addrs
}
