package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"thundercollective/bench"
	"thundercollective/internal/freeaddr"
)

// TestNeighboursApart: ranks of one machine that cannot see each other's processes, as in
// containers, or may not open what those have open, compute the right results over TCP,
// and it is said that they could be faster.
func TestNeighboursApart(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("MISSING: only root makes the process namespaces of this test")
	}
	ids := []syscall.SysProcIDMap{{Size: 1}}
	for name, last := range map[string]*syscall.SysProcAttr{
		"process namespace": {Cloneflags: syscall.CLONE_NEWPID},
		"user namespace":    {Cloneflags: syscall.CLONE_NEWUSER, UidMappings: ids, GidMappings: ids},
	} {
		for ranks, fabric := range map[int]string{2: "tcp", 3: "shm+tcp"} {
			t.Run(name+" "+strconv.Itoa(ranks), func(t *testing.T) {
				addr := freeaddr.Loopback(t, 1)[0]
				cmds := make([]*exec.Cmd, ranks)
				for r := range cmds {
					cmds[r] = command(t, append([]string{"bench", "allreduce", "--coordinator", addr, "--rank", strconv.Itoa(r), "--world-size", strconv.Itoa(ranks)}, small...)...)
				}
				cmds[ranks-1].SysProcAttr = last
				others := make(chan result)
				for _, cmd := range cmds[1:] {
					go func() { others <- finish(t, cmd) }()
				}
				first := finish(t, cmds[0])
				for range cmds[1:] {
					if res := <-others; res.code != 0 {
						t.Errorf("exit code %d\n%s", res.code, res.stderr)
					}
				}
				if first.code != 0 {
					t.Fatalf("rank 0: exit code %d\n%s", first.code, first.stderr)
				}
				rows := parse(t, first.stdout)
				right(t, rows, bench.AllReduce, ranks)
				if len(rows) == 0 || rows[0].Fabric != fabric {
					t.Errorf("got %+v, want rows over %s", rows, fabric)
				}
				if n := strings.Count(first.stderr, "share no memory"); n != 1 {
					t.Errorf("warned %d times:\n%s", n, first.stderr)
				}
			})
		}
	}
}
