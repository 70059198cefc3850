package local

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// parentMain is a process that runs a job whose ranks write the numbers of their
// processes into dir, and never end by themselves.
func parentMain(dir string) {
	cfg := script(2, `trap "" TERM HUP
		sh -c 'trap "" TERM HUP; echo $$ > child.$RANK.tmp; mv child.$RANK.tmp child.$RANK; while :; do sleep 1; done' &
		echo $$ > rank.$RANK.tmp; mv rank.$RANK.tmp rank.$RANK
		while :; do sleep 1; done`)
	cfg.Dir = dir
	cfg.Grace = time.Second
	fmt.Println(Run(context.Background(), cfg))
}

// However the process that runs the job dies, the job dies.
func TestParentKilled(t *testing.T) {
	dir := t.TempDir()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "LOCAL_TEST_PARENT="+dir)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, name := range []string{"rank.0", "rank.1", "child.0", "child.1"} {
		pids = append(pids, readPID(t, filepath.Join(dir, name)))
	}
	parent.Process.Kill()
	parent.Wait()
	for _, pid := range pids {
		waitGone(t, pid)
	}
}

// readPID waits for the file and returns the number in it.
func readPID(t *testing.T, name string) int {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if b, err := os.ReadFile(name); err == nil {
			pid, err := strconv.Atoi(string(bytes.TrimSpace(b)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatalf("%s did not appear", name)
	return 0
}

// waitGone fails the test, and kills the process, when it is not gone soon.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if !processAlive(pid) {
			return
		}
	}
	t.Errorf("process %d is still there", pid)
	syscall.Kill(pid, syscall.SIGKILL)
}

// processAlive reports whether pid exists and is more than a zombie that nobody has
// collected yet.
func processAlive(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !bytes.HasPrefix(bytes.TrimSpace(out), []byte("Z"))
}
