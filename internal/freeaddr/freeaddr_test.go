package freeaddr

import (
	"net"
	"slices"
	"strings"
	"testing"
)

func TestLoopback(t *testing.T) {
	addrs := Loopback(t, 50)
	slices.Sort(addrs)
	if n := len(slices.Compact(slices.Clone(addrs))); n != 50 {
		t.Fatalf("%d different addresses, want 50: %v", n, addrs)
	}
	for _, addr := range addrs {
		if !strings.HasPrefix(addr, "127.0.0.1:") {
			t.Errorf("%s is elsewhere", addr)
		}
	}
	ln, err := net.Listen("tcp", addrs[0])
	if err != nil {
		t.Fatalf("not given back: %v", err)
	}
	ln.Close()
}

func TestRails(t *testing.T) {
	for r, list := range Rails(t, 2) {
		want := [2][]string{{"127.0.0.1", "127.0.1.1"}, {"127.0.0.2", "127.0.1.2"}}[r]
		for i, addr := range strings.Split(list, ",") {
			if host, _, err := net.SplitHostPort(addr); err != nil || host != want[i] {
				t.Errorf("rank %d, rail %d: %s", r, i, addr)
			}
		}
	}
}
