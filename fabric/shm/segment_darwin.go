package shm

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
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

// createFile makes a shared-memory object, whose name goes before the memory comes: the
// object lives on in the files that refer to it. Its size can be set only once, so no peer
// can make an access fail.
func createFile(size int) (int, error) {
	var random [8]byte // names of more than 31 characters are refused
	rand.Read(random[:])
	name, err := unix.BytePtrFromString("/thunder-" + hex.EncodeToString(random[:]))
	if err != nil {
		return -1, err
	}
	r, _, errno := unix.Syscall(unix.SYS_SHM_OPEN, uintptr(unsafe.Pointer(name)), unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o600)
	if errno != 0 {
		return -1, errno
	}
	fd := int(r)
	_, _, errno = unix.Syscall(unix.SYS_SHM_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0)
	if errno != 0 {
		unix.Close(fd)
		return -1, errno
	}
	unix.CloseOnExec(fd)
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// checkFile says what is wrong with a file that a peer says is as long as that. Objects
// are as long as their last page.
func checkFile(fd, size int) error {
	switch found, err := fileSize(fd); {
	case err != nil:
		return err
	case found < int64(size):
		return fmt.Errorf("the memory passed is %d bytes long instead of %d", found, size)
	}
	return nil
}

// populate does nothing here: pages come at first touch.
func (s *segment) populate() {}

// processOf returns 0: nothing here needs the number of another process.
func processOf(*net.UnixConn) uint32 { return 0 }
