package shm

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"thundercollective/fabric"
)

// needsReading skips a test where processes cannot read each other's memory.
func needsReading(t *testing.T) {
	t.Helper()
	var b [1]byte
	if err := readMemory(uint32(os.Getpid()), uintptr(unsafe.Pointer(new(byte))), b[:]); errors.Is(err, unix.ENOSYS) {
		t.Skip("MISSING: process_vm_readv, which Linux has and its emulator does not")
	}
}

// TestProve: only memory that holds the number proves anything.
func TestProve(t *testing.T) {
	needsReading(t)
	id := new(nonce)
	*id = newNonce()
	at := uint64(uintptr(unsafe.Pointer(id)))
	pid := uint32(os.Getpid())
	if err := prove(pid, at, *id); err != nil {
		t.Error(err)
	}
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { child.Process.Kill(); child.Wait() }()
	for name, err := range map[string]error{
		"another number":  prove(pid, at, newNonce()),
		"no memory":       prove(pid, 1<<46, *id),
		"not offered":     prove(pid, 0, *id),
		"another process": prove(uint32(child.Process.Pid), at, *id),
	} {
		if err == nil {
			t.Errorf("%s: proved", name)
		}
	}
}

// TestReadGone: of a process that has ended nothing can be read, waited for or not.
func TestReadGone(t *testing.T) {
	needsReading(t)
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	p := &pair{peer: 3, reads: true, pid: uint32(child.Process.Pid)}
	h := fabric.Handle{located}
	h[10] = 1
	child.Process.Kill()
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_PID, child.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"zombie", "gone"} {
		var lost *fabric.LostError
		if err := p.read(h, 0, make([]byte, 8)); !errors.As(err, &lost) || lost.Peer != 3 {
			t.Errorf("%s: got %v, want a LostError for rank 3", state, err)
		}
		child.Wait()
	}
}

// TestLocateUnreadable: memory that cannot be read is not named to anybody.
func TestLocateUnreadable(t *testing.T) {
	needsReading(t)
	mem, err := unix.Mmap(-1, 0, 3*os.Getpagesize(), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	var s sharing
	if _, ok := s.locate(mem); ok {
		t.Error("memory that cannot be read was named")
	}
	if err := unix.Mprotect(mem, unix.PROT_READ); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.locate(mem); !ok {
		t.Error("memory that can be read was not named")
	}
}
