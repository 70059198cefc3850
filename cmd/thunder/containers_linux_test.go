package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"thundercollective/internal/bench"
	"thundercollective/internal/freeaddr"
	"thundercollective/internal/netns"
)

// rankCommands returns the commands of a short benchmark, one for each rank.
func rankCommands(t *testing.T, ranks int, coordinator string) []*exec.Cmd {
	cmds := make([]*exec.Cmd, ranks)
	for r := range cmds {
		cmds[r] = command(t, append([]string{"bench", "allreduce", "--coordinator", coordinator,
			"--rank", strconv.Itoa(r), "--world-size", strconv.Itoa(ranks)}, small...)...)
	}
	return cmds
}

// together runs the ranks of a benchmark, makes sure that the results are right and what
// carried them, and returns what rank 0 said besides.
func together(t *testing.T, cmds []*exec.Cmd, fabric string) string {
	t.Helper()
	var others sync.WaitGroup
	for r, cmd := range cmds[1:] {
		others.Go(func() {
			if res := finish(t, cmd); res.code != 0 {
				t.Errorf("rank %d: exit code %d\n%s", r+1, res.code, res.stderr)
			}
		})
	}
	first := finish(t, cmds[0])
	others.Wait()
	if first.code != 0 {
		t.Fatalf("rank 0: exit code %d\n%s", first.code, first.stderr)
	}
	rows := parse(t, first.stdout)
	right(t, rows, bench.AllReduce, len(cmds))
	if len(rows) == 0 || rows[0].Fabric != fabric {
		t.Errorf("got %+v, want rows over %s\n%s", rows, fabric, first.stderr)
	}
	return first.stderr
}

// TestNamespaces: ranks of one machine that cannot see each other's processes, as in
// containers, or are other users, share memory all the same.
func TestNamespaces(t *testing.T) {
	needProgram(t)
	if os.Geteuid() != 0 {
		t.Skip("MISSING: only root makes the namespaces of this test")
	}
	if err := os.Chmod(filepath.Dir(program), 0o755); err != nil { // other users run it, too
		t.Fatal(err)
	}
	ids := []syscall.SysProcIDMap{{Size: 1}}
	for name, last := range map[string]*syscall.SysProcAttr{
		"process namespace": {Cloneflags: syscall.CLONE_NEWPID},
		"user namespace":    {Cloneflags: syscall.CLONE_NEWUSER, UidMappings: ids, GidMappings: ids},
		"user":              {Credential: &syscall.Credential{Uid: 65534, Gid: 65534}},
	} {
		for ranks := 2; ranks <= 3; ranks++ {
			t.Run(name+" "+strconv.Itoa(ranks), func(t *testing.T) {
				cmds := rankCommands(t, ranks, freeaddr.Loopback(t, 1)[0])
				cmds[ranks-1].SysProcAttr = last
				if said := together(t, cmds, "shm"); strings.Contains(said, "share no memory") {
					t.Errorf("warned for nothing:\n%s", said)
				}
			})
		}
	}
}

// TestIsolatedRanks: ranks of one machine that share no Unix socket, as in containers
// with a network and files of their own, compute the right results over TCP, and it is
// said that they could be faster. If they have files in common they share memory.
func TestIsolatedRanks(t *testing.T) {
	spaces := netns.New(t, 2)
	netns.Run(t, "ip", "-n", spaces[0], "link", "add", "v", "type", "veth", "peer", "name", "v", "netns", spaces[1])
	for i, ns := range spaces {
		netns.Run(t, "ip", "-n", ns, "addr", "add", "10.9.0."+strconv.Itoa(i+1)+"/24", "dev", "v")
		netns.Run(t, "ip", "-n", ns, "link", "set", "v", "up")
		netns.Run(t, "ip", "-n", ns, "link", "set", "lo", "up")
	}
	for _, tt := range []struct {
		name, doors, fabric string
		ranks, warnings     int
	}{
		{"no files in common 2", "/nowhere", "tcp", 2, 1},
		{"no files in common 3", "/nowhere", "shm+tcp", 3, 1},
		{"files in common 3", t.TempDir(), "shm", 3, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmds := rankCommands(t, tt.ranks, "10.9.0.1:7000")
			for r, cmd := range cmds {
				ns := spaces[0]
				if r == tt.ranks-1 {
					ns = spaces[1]
				}
				inside := netns.Command(t.Context(), ns, cmd.Args...)
				inside.Env = append(slices.Clone(cmd.Env), "TMPDIR="+tt.doors, "THUNDER_TOKEN=secret")
				cmds[r] = inside
			}
			said := together(t, cmds, tt.fabric)
			if n := strings.Count(said, "share no memory"); n != tt.warnings {
				t.Errorf("warned %d times:\n%s", n, said)
			}
			if left, _ := os.ReadDir(tt.doors); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
