// Package freeaddr finds addresses that tests can listen at.
//
// They are drawn at random from ports that systems do not hand out by themselves:
// what a system gives to one who asks for any port, it may give to the next connection
// that anybody makes.
package freeaddr

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const (
	firstPort = 10_000
	ports     = 20_000
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
	for try := 0; ; try++ {
		ln, err := net.Listen("tcp", net.JoinHostPort(ip, strconv.Itoa(firstPort+rand.IntN(ports))))
		switch {
		case err == nil:
			return ln
		case errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT):
			t.Skipf("SKIPPED: needs the address %s on this machine", ip)
		case !errors.Is(err, syscall.EADDRINUSE) || try == 100:
			t.Fatal(err)
		}
	}
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
