package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"thundercollective/internal/patience"
)

// thunderBin is the binary under test, and work the folder for everything.
var thunderBin, work string

// clock counts the time that the tests and their jobs were given; limits go by it.
var clock *patience.Clock

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	flag.Parse()
	if testing.Short() {
		fmt.Println("tests with sshd, mpirun and Slurm are skipped with -short")
		return 0
	}
	var err error
	if work, err = os.MkdirTemp("", "thunder-e2e-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(work)
	os.Setenv("TMPDIR", work) // agents that are killed leave their files
	thunderBin = filepath.Join(work, "thunder")
	if err := build(thunderBin, ""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	remove := privilegeSeparationDir()
	defer remove()
	clock = patience.Start()
	defer clock.Stop()
	// These tests wait most of the time, not for a CPU.
	flag.Set("test.parallel", "4")
	return m.Run()
}

func build(out, stamp string) error {
	cmd := exec.Command("go", "build", "-ldflags", "-X main.stamp="+stamp, "-o", out, "thundercollective/cmd/thunder")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build thunder: %v\n%s", err, msg)
	}
	return nil
}

// ownBin is thunder under a name that tells the test's processes from others.
func ownBin(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "thunder")
	if err := os.Link(thunderBin, bin); err != nil {
		copyFile(t, thunderBin, bin)
		os.Chmod(bin, 0o755)
	}
	return bin
}

// A launched is a thunder process that a test looks after.
type launched struct {
	bin  string
	cmd  *exec.Cmd
	out  buffer // stdout
	errs buffer // stderr
	done chan struct{}
}

// thunder starts the binary; the test ends it.
func thunder(t *testing.T, args ...string) *launched {
	t.Helper()
	return start(t, exec.Command(ownBin(t), args...))
}

func start(t *testing.T, cmd *exec.Cmd) *launched {
	t.Helper()
	l := &launched{bin: cmd.Path, cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &l.out, &l.errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		cmd.Wait()
		close(l.done)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-l.done
	})
	return l
}

// wait returns the exit code.
func (l *launched) wait(t *testing.T) int {
	t.Helper()
	ctx, cancel := patience.Context(t.Context(), 60*time.Second)
	defer cancel()
	select {
	case <-l.done:
	case <-ctx.Done():
		t.Fatalf("thunder does not end\nstdout:\n%s\nstderr:\n%s", l.out.String(), l.errs.String())
	}
	return l.cmd.ProcessState.ExitCode()
}

// want checks the exit code, and that stdout and stderr have all of the texts.
func (l *launched) want(t *testing.T, code int, texts ...string) {
	t.Helper()
	got := l.wait(t)
	all := l.out.String() + l.errs.String()
	ok := got == code
	for _, s := range texts {
		if !strings.Contains(all, s) {
			t.Errorf("%q is missing", s)
			ok = false
		}
	}
	if !ok {
		t.Errorf("exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", got, code, l.out.String(), l.errs.String())
	}
}

// A buffer may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// eventually fails the test when cond does not come true in time.
func eventually(t *testing.T, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	for end := clock.Given() + limit; !cond(); time.Sleep(10 * time.Millisecond) {
		if clock.Given() > end {
			t.Fatalf("%s: not within %v", what, limit)
		}
	}
}

// A census knows the processes of a job: its ranks write their numbers, and those
// of their children, into its folder.
type census struct {
	dir string
}

func newCensus(t *testing.T) *census { return &census{dir: t.TempDir()} }

// script is a rank that forks, reports, and then does what it is told. Both its
// processes ignore SIGTERM, unless the script sets a trap of its own.
func (c *census) script(then string) []string {
	return []string{"/bin/sh", "-c", `trap "" TERM HUP
sh -c 'trap "" TERM HUP; echo $$ > ` + c.dir + `/child.$RANK; while :; do sleep 1; done' &
echo $$ > ` + c.dir + `/rank.$RANK
while [ "$(ls ` + c.dir + ` | wc -l)" -lt $((2 * WORLD_SIZE)) ]; do sleep 0.05; done
echo "rank $RANK is up"
` + then}
}

// processes waits for n ranks and returns all their processes.
func (c *census) processes(t *testing.T, n int) (ranks, all []int) {
	t.Helper()
	for r := range n {
		for _, kind := range []string{"rank", "child"} {
			name := filepath.Join(c.dir, fmt.Sprintf("%s.%d", kind, r))
			var pid int
			eventually(t, 30*time.Second, name, func() bool {
				b, err := os.ReadFile(name)
				if err != nil {
					return false
				}
				pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
				return err == nil
			})
			all = append(all, pid)
			if kind == "rank" {
				ranks = append(ranks, pid)
			}
		}
	}
	return ranks, all
}

// gone checks that five seconds after since, by the clock, no process of the job is left:
// none of its ranks, no agent, no ssh.
func (l *launched) gone(t *testing.T, since time.Duration, pids []int) {
	t.Helper()
	end := since + 5*time.Second
	eventually(t, end-clock.Given(), fmt.Sprintf("processes %v end", pids), func() bool {
		return !slices.ContainsFunc(pids, alive)
	})
	eventually(t, max(end-clock.Given(), time.Second), "agents end", func() bool {
		return len(running(l.bin)) == 0
	})
}

// alive reports whether a process can still run.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return f[0] != "Z" && f[0] != "X"
}

// running returns the processes with text on their command line.
func running(text string) []int {
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil && bytes.Contains(b, []byte(text)) && alive(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}
