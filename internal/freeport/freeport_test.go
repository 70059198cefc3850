package freeport

import (
	"net"
	"testing"
)

// TestListen gets many ports, which must be different and in the right range, and checks
// that another listener can take one over on all addresses.
func TestListen(t *testing.T) {
	seen := map[int]bool{}
	for range 50 {
		ln, err := Listen("127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		port := ln.Addr().(*net.TCPAddr).Port
		if seen[port] || port < first || port >= first+ports {
			t.Errorf("got port %d", port)
		}
		seen[port] = true
	}
	ln, err := Listen("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	addr := &net.TCPAddr{Port: ln.Addr().(*net.TCPAddr).Port}
	ln.Close()
	again, err := net.ListenTCP("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if _, err := Listen("192.0.2.1"); err == nil {
		t.Error("it listens on an address that this machine does not have")
	}
}
