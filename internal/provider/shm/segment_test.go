package shm

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAttach(t *testing.T) {
	id := newNonce()
	s, err := newSegment(100, id, 7)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	other, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	s.body()[99] = 42
	size := headerSize + 100
	for _, tt := range []struct {
		name   string
		file   int
		size   int
		n      int
		id     nonce
		serial uint64
		ok     bool
	}{
		{"as offered", s.fd, size, 100, id, 7, true},
		{"of any length", s.fd, size, 0, id, 7, true},
		{"another length than wanted", s.fd, size, 101, id, 7, false},
		{"longer than it is", s.fd, size + 1<<20, 0, id, 7, false},
		{"shorter than a header", s.fd, 10, 0, id, 7, false},
		{"another nonce", s.fd, size, 100, newNonce(), 7, false},
		{"another serial number", s.fd, size, 100, id, 8, false},
		{"something that is no segment", int(other.Fd()), size, 100, id, 7, false},
	} {
		fd, err := unix.Dup(tt.file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := attach(parcel{fd, tt.size}, tt.n, tt.id, tt.serial)
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err == nil {
			if got.body()[99] != 42 {
				t.Errorf("%s: the memory is not shared", tt.name)
			}
			got.close()
		}
		if unix.Close(fd) == nil {
			t.Errorf("%s: the file was left open", tt.name)
		}
	}
}

func TestFixedSize(t *testing.T) {
	s, err := newSegment(8192, newNonce(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := unix.Ftruncate(s.fd, 0); err == nil {
		t.Error("a peer can take the memory away from under us")
	}
}
