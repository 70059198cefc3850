package shm

import (
	"fmt"
	"os"

	"testing"
)

func TestAttach(t *testing.T) {
	id := newNonce()
	s, err := newSegment(100, id, 7)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	pid, fd := uint32(os.Getpid()), uint32(s.fd)
	other, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	s.body()[99] = 42
	for _, tt := range []struct {
		name    string
		pid, fd uint32
		n       int
		id      nonce
		serial  uint64
		ok      bool
	}{
		{"as offered", pid, fd, 100, id, 7, true},
		{"of any length", pid, fd, 0, id, 7, true},
		{"another length", pid, fd, 101, id, 7, false},
		{"another nonce", pid, fd, 100, newNonce(), 7, false},
		{"another serial: the number was used again", pid, fd, 100, id, 8, false},
		{"something that is no segment", pid, uint32(other.Fd()), 100, id, 7, false},
		{"a file that is not open", pid, 1 << 20, 100, id, 7, false},
		{"no such process", 1 << 30, fd, 100, id, 7, false},
	} {
		got, err := attach(tt.pid, tt.fd, tt.n, tt.id, tt.serial)
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err == nil {
			if got.body()[99] != 42 {
				t.Errorf("%s: the memory is not shared", tt.name)
			}
			got.close()
		}
	}
	s.unlist()
	if _, err := attach(pid, fd, 100, id, 7); err == nil {
		t.Error("attached to a segment that is no longer offered")
	}
}

func TestSealed(t *testing.T) {
	s, err := newSegment(8192, newNonce(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := os.Truncate(fmt.Sprintf("/proc/self/fd/%d", s.fd), 0); err == nil {
		t.Error("a peer can take the memory away from under us")
	}
}
