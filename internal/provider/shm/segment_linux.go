package shm

import (
	"errors"
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

// anonymousFile makes a file without a name.
func anonymousFile() (int, error) {
	return unix.MemfdCreate(memfdName, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
}

// seal has a file keep its size.
func seal(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	return err
}

// sealed returns an error if a file may still become shorter.
func sealed(fd int) error {
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
