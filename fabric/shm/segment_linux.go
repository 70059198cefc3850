package shm

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// memfdName is what /proc shows of our segments.
const memfdName = "thunder"

// hostID tells machines, and their reboots, apart.
func hostID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// createFile makes an anonymous file that cannot change its size, so that no peer can make
// an access fail.
func createFile(size int) (int, error) {
	fd, err := unix.MemfdCreate(memfdName, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, err
	}
	if err = unix.Ftruncate(fd, int64(size)); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// checkFile says what is wrong with a file that a peer says is as long as that.
func checkFile(fd, size int) error {
	switch found, err := fileSize(fd); {
	case err != nil:
		return err
	case found != int64(size):
		return fmt.Errorf("the memory passed is %d bytes long instead of %d", found, size)
	}
	if seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0); err != nil || seals&unix.F_SEAL_SHRINK == 0 {
		return errors.New("the memory passed is not sealed")
	}
	return nil
}

// populate makes the pages of a mapping present now rather than at first touch.
func (s *segment) populate() {
	// Only a matter of speed: kernels before 5.14 do not have it.
	_ = unix.Madvise(s.mem, unix.MADV_POPULATE_WRITE)
}

// processOf returns the number that the process at the other end has here, or 0.
func processOf(conn *net.UnixConn) uint32 {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	pid := int32(0)
	raw.Control(func(fd uintptr) {
		if who, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = who.Pid
		}
	})
	return uint32(pid)
}
