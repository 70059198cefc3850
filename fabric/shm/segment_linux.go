package shm

import (
	"errors"
	"fmt"
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

// createSegment makes and maps an anonymous file that cannot change its size, so
// that no peer can make an access fail.
func createSegment(size int) (*segment, error) {
	fd, err := unix.MemfdCreate(memfdName, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	if err = unix.Ftruncate(fd, int64(size)); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	var mem []byte
	if err == nil {
		mem, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &segment{mem: mem, fd: fd}, nil
}

// openSegment maps another process's segment of a known size, or any if 0.
func openSegment(pid, fd uint32, size int) (*segment, error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", pid, fd)
	// In another process namespace the number may be anybody's: look before
	// opening, since opening can have effects.
	switch target, err := os.Readlink(path); {
	case err != nil:
		return nil, err
	case !strings.HasPrefix(target, "/memfd:"+memfdName):
		return nil, errors.New("the process with that number has something else there")
	}
	own, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(own)
	var st unix.Stat_t
	if err := unix.Fstat(own, &st); err != nil {
		return nil, err
	}
	if st.Size < headerSize || size != 0 && st.Size != int64(size) {
		return nil, fmt.Errorf("the memory found is %d bytes long", st.Size)
	}
	seals, err := unix.FcntlInt(uintptr(own), unix.F_GET_SEALS, 0)
	if err != nil || seals&unix.F_SEAL_SHRINK == 0 {
		return nil, errors.New("the memory found is not sealed")
	}
	mem, err := unix.Mmap(own, 0, int(st.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &segment{mem: mem, fd: -1}, nil
}

// populate makes the pages of a mapping present now rather than at first touch.
func (s *segment) populate() {
	// Only a matter of speed: kernels before 5.14 do not have it.
	_ = unix.Madvise(s.mem, unix.MADV_POPULATE_WRITE)
}

// unlist ends the time in which peers can attach.
func (s *segment) unlist() {
	if s.fd >= 0 {
		unix.Close(s.fd)
		s.fd = -1
	}
}

// close unmaps. Nobody may use the memory any more.
func (s *segment) close() {
	s.unlist()
	if s.mem != nil {
		unix.Munmap(s.mem)
		s.mem = nil
	}
}
