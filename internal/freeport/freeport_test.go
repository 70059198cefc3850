package freeport

import (
	"net"
	"testing"
)

// TestListen draws many ports: all are different, not of the system's own, and can be
// taken over at all addresses.
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
			t.Errorf("drew port %d", port)
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
		t.Error("listens at an address of nobody")
	}
}
