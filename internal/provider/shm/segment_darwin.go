package shm

import (
	"crypto/rand"
	"encoding/hex"
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hostID tells machines, and their reboots, apart.
func hostID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

// anonymousFile makes a shared-memory object, whose name goes before the memory comes: the
// object lives on in the files that refer to it.
func anonymousFile() (int, error) {
	var random [8]byte // names of more than 31 characters are refused
	rand.Read(random[:])
	name, err := unix.BytePtrFromString("/thunder-" + hex.EncodeToString(random[:]))
	if err != nil {
		return -1, err
	}
	fd, _, errno := unix.Syscall(unix.SYS_SHM_OPEN, uintptr(unsafe.Pointer(name)), unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o600)
	if errno != 0 {
		return -1, errno
	}
	unix.CloseOnExec(int(fd))
	if _, _, errno = unix.Syscall(unix.SYS_SHM_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0); errno != 0 {
		unix.Close(int(fd))
		return -1, errno
	}
	return int(fd), nil
}

// The size of such an object can be set only once.
func seal(int) error   { return nil }
func sealed(int) error { return nil }

// populate does nothing here: pages come at first touch.
func (s *segment) populate() {}

// processOf returns 0: nothing here needs the number of another process.
func processOf(*net.UnixConn) uint32 { return 0 }
