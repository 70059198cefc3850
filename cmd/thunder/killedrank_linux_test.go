package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const killedRanks = 3

// An unending is a benchmark whose second row would take many minutes.
type unending struct {
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	ranks  [killedRanks]int // process of each rank
}

// startUnending returns when the ranks are at work on the second row.
func startUnending(t *testing.T) *unending {
	t.Helper()
	cmd := command(t, "bench", "allreduce", "-n", strconv.Itoa(killedRanks), "--json",
		"--min", "4", "--max", "64MiB", "--factor", strconv.Itoa(16<<20), "--iters", "3000", "--warmup", "0")
	u := &unending{cmd: cmd, stderr: &bytes.Buffer{}}
	cmd.Stderr = u.stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatalf("no row came: %v\n%s", err, u.stderr)
	}
	u.findRanks(t)
	return u
}

// findRanks looks up which process is which rank in their environments.
func (u *unending) findRanks(t *testing.T) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, dir := range all {
		// Processes may end while we look; those are not ours.
		exe, _ := os.Readlink(filepath.Join(dir, "exe"))
		stat, _ := os.ReadFile(filepath.Join(dir, "stat"))
		env, _ := os.ReadFile(filepath.Join(dir, "environ"))
		fields := strings.Fields(string(stat))
		if exe != program || len(fields) < 4 || fields[3] != strconv.Itoa(u.cmd.Process.Pid) {
			continue
		}
		for v := range strings.SplitSeq(string(env), "\x00") {
			if text, ok := strings.CutPrefix(v, "THUNDER_RANK="); ok {
				rank, _ := strconv.Atoi(text)
				u.ranks[rank], _ = strconv.Atoi(filepath.Base(dir))
				found++
			}
		}
	}
	if found != killedRanks {
		t.Fatalf("found %d ranks, want %d", found, killedRanks)
	}
}

// gone waits until no rank is there any more.
func (u *unending) gone(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(deadline); ; time.Sleep(10 * time.Millisecond) {
		left := 0
		for _, pid := range u.ranks {
			if syscall.Kill(pid, 0) == nil {
				left++
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d ranks are still there", left)
		}
	}
}

// A rank that is killed is named by the others, and nothing stays.
func TestRankKilled(t *testing.T) {
	t.Parallel()
	u := startUnending(t)
	if err := syscall.Kill(u.ranks[1], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	err := u.cmd.Wait()
	if code := u.cmd.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("exit code %d (%v)", code, err)
	}
	for _, want := range []string{"rank 0: thunder bench: ", "rank 2: thunder bench: ", "lost rank 1", "rank 1 was killed by SIGKILL"} {
		if !strings.Contains(u.stderr.String(), want) {
			t.Errorf("%q is not in\n%s", want, u.stderr)
		}
	}
	u.gone(t)
}

// An interrupt ends the ranks too.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	u := startUnending(t)
	if err := u.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = u.cmd.Wait()
	if code := u.cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(u.stderr.String(), "interrupted") {
		t.Errorf("it does not say why it ended:\n%s", u.stderr)
	}
	u.gone(t)
}

// Not even SIGKILL to the parent leaves ranks behind.
func TestParentKilled(t *testing.T) {
	t.Parallel()
	u := startUnending(t)
	if err := u.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = u.cmd.Wait()
	u.gone(t)
}
