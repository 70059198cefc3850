package lab_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"thundercollective/internal/cabling/lab"
)

// memory is the most that a relay held while messages passed through it, in bytes:
// what its process grew by, what its sockets had queued, and what was in its pipes,
// through which bytes are passed on inside the kernel.
type memory struct{ Process, Sockets, Pipes int }

func (m *memory) total() int { return m.Process + m.Sockets + m.Pipes }

// watch looks at this process until the function that it returns is called. With die
// it ends the process by SIGKILL once there is something in its sockets, which is in
// the middle of a long message.
func (m *memory) watch(die bool) (stop func()) {
	before := resident()
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-quit:
				return
			case <-time.After(10 * time.Millisecond):
			}
			sockets, pipes := inKernel()
			if die && sockets > 128<<10 {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			m.Process = max(m.Process, resident()-before)
			m.Sockets, m.Pipes = max(m.Sockets, sockets), max(m.Pipes, pipes)
		}
	})
	return func() {
		close(quit)
		wg.Wait()
	}
}

// resident is the size of this process in memory.
func resident() int {
	text, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize()
}

// inKernel is what the sockets and the pipes of this process hold. It looks at all
// descriptors there may be, and allocates nothing, which would be measured too.
func inKernel() (sockets, pipes int) {
	var seen [16]uint64 // pipes: each has two descriptors
	for fd := range 256 {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) != nil {
			continue
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFSOCK:
			sockets += queued(fd)
		case unix.S_IFIFO:
			if slot := &seen[st.Ino%16]; *slot != st.Ino {
				*slot = st.Ino
				n, _ := unix.IoctlGetInt(fd, unix.TIOCINQ)
				pipes += n
			}
		}
	}
	return sockets, pipes
}

// queued is what a socket holds in both directions.
func queued(fd int) int {
	const (
		rmem, wmemQueued = 0, 5 // places of SK_MEMINFO_RMEM_ALLOC and SK_MEMINFO_WMEM_QUEUED
	)
	var info [9]uint32
	size := uint32(unsafe.Sizeof(info))
	_, _, e := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if e != 0 {
		return 0
	}
	return int(info[rmem] + info[wmemQueued])
}

// TestRelayMemory sends 64 MiB from end to end. The second cable is slower than the
// first, so the relay would have to hold most of it if it took what it is sent.
//
//	[0]──1 Gb/s──[1]──0.3 Gb/s──[2]
func TestRelayMemory(t *testing.T) {
	l := lab.New(t, 3, lab.Cable{A: 0, B: 1, Mbps: 1000}, lab.Cable{A: 1, B: 2, Mbps: 300})
	_, logs := play(t, l, task{Do: "oneway", Edges: l.Edges(), Elems: elems, Iters: 1, Relay: 1}, nil)
	_, text, ok := strings.Cut(logs, "held ")
	var m memory
	if !ok || json.NewDecoder(strings.NewReader(text)).Decode(&m) != nil {
		t.Fatalf("the relay did not report: %s", logs)
	}
	t.Logf("at the relay: process %d KiB, sockets %d KiB, pipes %d KiB", m.Process>>10, m.Sockets>>10, m.Pipes>>10)
	if m.total() > 8<<20 {
		t.Errorf("the relay held %d bytes: %+v", m.total(), m)
	}
	if m.Sockets == 0 {
		t.Error("nothing was seen in its sockets, so nothing was measured")
	}
}

// TestRelayDies: the machine in the middle is killed while a message passes through
// it. Both ends name it.
//
//	[0]──0.1 Gb/s──[✝]──0.1 Gb/s──[2]
func TestRelayDies(t *testing.T) {
	l := lab.New(t, 3, lab.Cable{A: 0, B: 1, Mbps: 100}, lab.Cable{A: 1, B: 2, Mbps: 100})
	k := task{Do: "oneway", Edges: l.Edges(), Elems: elems, Iters: 1, Relay: 1, Die: true, Addrs: l.Addrs(7400)}
	logs := make([]bytes.Buffer, 3)
	var cmds []*exec.Cmd
	for r := range logs {
		cmd := command(t, l, k, r, &logs[r])
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	host := strings.Split(strings.Split(k.Addrs[1], ",")[0], ":")[0]
	for r, cmd := range cmds {
		err := cmd.Wait()
		cable := r / 2
		want := fmt.Sprintf("lost rank 1 on %s, tcp %s:7400 from %s on %s\n", host, l.Addr(cable, 1), l.Addr(cable, r), l.Device(cable))
		if r != 1 && (err == nil || !strings.Contains(logs[r].String(), want)) {
			t.Errorf("rank %d: %v, want %q in %s", r, err, want, &logs[r])
		}
	}
}
