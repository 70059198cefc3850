package e2e

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The same ends as over ssh, on this machine alone.
func TestLocalEnds(t *testing.T) {
	t.Parallel()
	const forever = `while :; do sleep 1; done`
	for _, tt := range []struct {
		name, then string
		do         func(t *testing.T, l *launched, ranks []int)
		code       int
		say        []string
	}{
		{"rank exits with 3", `[ $RANK = 2 ] && { echo bad news; exit 3; }; ` + forever, nil, 3,
			[]string{"rank 2 on localhost failed first: it exited with code 3", "  bad news"}},
		{"rank is killed", forever, func(_ *testing.T, _ *launched, ranks []int) { syscall.Kill(ranks[1], syscall.SIGKILL) }, 128 + 9,
			[]string{"rank 1 on localhost failed first: it was killed by SIGKILL"}},
		{"interrupt", `trap 'echo "$RANK stops"; exit 0' TERM; while :; do sleep 0.1; done`,
			func(t *testing.T, l *launched, _ []int) { interrupt(t, nil, l, nil) }, 128 + 2, []string{"0 stops", "3 stops"}},
		{"terminal hangs up", forever, func(_ *testing.T, l *launched, _ []int) { l.cmd.Process.Signal(syscall.SIGHUP) }, 128 + 1, nil},
		{"launcher is killed", forever, func(_ *testing.T, l *launched, _ []int) { l.cmd.Process.Kill() }, -1, nil},
		{"launcher and agent are killed", forever, func(_ *testing.T, l *launched, _ []int) {
			agents := children(l.cmd.Process.Pid)
			l.cmd.Process.Kill()
			for _, pid := range agents {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}, -1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCensus(t)
			l := thunder(t, append([]string{"launch", "-n", "4", "--"}, c.script(tt.then)...)...)
			ranks, all := c.processes(t, 4)
			eventually(t, 20*time.Second, "ranks are up", func() bool { return strings.Count(l.out.String(), "is up") == 4 })
			since := time.Now()
			if tt.do != nil {
				tt.do(t, l, ranks)
			}
			l.gone(t, since, all)
			l.want(t, tt.code, tt.say...)
		})
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	thunder(t, "launch", "-n", "2", "--timeout", "300ms", "--", "sleep", "100").want(t, 124, "not done after 300ms")
}

func TestStdin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		flag string
		want []string // what each rank counts
	}{
		{"--stdin=0", []string{"3000000", "0", "0"}},
		{"--stdin=all", []string{"3000000", "3000000", "3000000"}},
		{"--stdin=none", []string{"0", "0", "0"}},
	} {
		t.Run(tt.flag, func(t *testing.T) {
			cmd := exec.Command(ownBin(t), "launch", "-n", "3", tt.flag, "--", "wc", "-c")
			cmd.Stdin = bytes.NewReader(make([]byte, 3000000))
			l := start(t, cmd)
			var lines []string
			for r, n := range tt.want {
				lines = append(lines, fmt.Sprintf("%d@localhost | %s\n", r, n))
			}
			l.want(t, 0, lines...)
		})
	}
}

func TestOutputFlags(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, flags, want string }{
		{"raw", "--tag off", "line 0\nline 1\nline 2\n"},
		{"all but rank 0", "--quiet-ranks", "0@localhost | line 0\n"},
		{"some", "--quiet-ranks=0,2-", "1@localhost | line 1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append(append([]string{"launch", "-n", "3"}, strings.Fields(tt.flags)...), "--", "sh", "-c", "sleep 0.$RANK; echo line $RANK")
			l := thunder(t, args...)
			l.want(t, 0)
			if got := l.out.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A line is never torn or lost, however many ranks write at once.
func TestLinesAreWhole(t *testing.T) {
	t.Parallel()
	const ranks, lines = 8, 2000
	l := thunder(t, "launch", "-n", fmt.Sprint(ranks), "--", "sh", "-c",
		`i=0; while [ $i -lt 2000 ]; do echo "rank $RANK line $i of two thousand, which is long enough to be torn apart"; i=$((i+1)); done`)
	l.want(t, 0)
	next := make([]int, ranks)
	for line := range strings.Lines(l.out.String()) {
		var tag, rank, n int
		if _, err := fmt.Sscanf(line, "%d@localhost | rank %d line %d of", &tag, &rank, &n); err != nil || tag != rank || !strings.HasSuffix(line, " torn apart\n") {
			t.Fatalf("line %q: %v", line, err)
		}
		if n != next[rank] {
			t.Fatalf("rank %d: line %d where %d should be", rank, n, next[rank])
		}
		next[rank]++
	}
	for r, n := range next {
		if n != lines {
			t.Errorf("rank %d: %d lines", r, n)
		}
	}
}

func TestRestarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := `echo "generation $THUNDER_GENERATION"; [ $THUNDER_GENERATION = 2 ] || [ $RANK != 1 ] || exit 5; [ $THUNDER_GENERATION = 2 ] || sleep 100`
	thunder(t, "launch", "-n", "2", "--restarts", "3", "--log-dir", dir, "--", "sh", "-c", script).want(t, 0,
		"0@localhost | generation 0", "0@localhost | generation 1", "1@localhost | generation 2", "restart 2 of 3")
	for name, want := range map[string]string{"rank-0.log": "generation 0\n", "rank-0.restart-2.log": "generation 2\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	thunder(t, "launch", "-n", "2", "--restarts", "1", "--", "sh", "-c", "exit 6").want(t, 6, "restart 1 of 1")
	thunder(t, "launch", "-n", "2", "--restarts", "1", "--", "no-such-program").want(t, 127, "no-such-program")
}

// A machine that was lost takes part in the next generation, with its files.
func TestRestartAfterCut(t *testing.T) {
	t.Parallel()
	f := twoHosts(t)
	prog := filepath.Join(t.TempDir(), "prog.sh")
	writeFile(t, prog, "#!/bin/sh\necho \"generation $THUNDER_GENERATION\"\n[ $THUNDER_GENERATION = 1 ] || sleep 100\n")
	os.Chmod(prog, 0o755)
	l := f.launch(t, "--hosts", "a,b", "--restarts", "1", "--copy", prog, "--", prog)
	eventually(t, 20*time.Second, "ranks are up", func() bool { return strings.Count(l.out.String(), "generation 0") == 2 })
	cut(t, f.hosts["b"])
	l.want(t, 0, "b: it closed the connection", "restart 1 of 1", "0@a | generation 1", "1@b | generation 1")
}

// The token is in no output, on no command line, and in no environment.
func TestTokenStaysSecret(t *testing.T) {
	t.Parallel()
	f := twoHosts(t)
	c := newCensus(t)
	l := f.launch(t, append([]string{"--hosts", "a,b"}, c.script(`echo "$THUNDER_TOKEN_FILE" > `+c.dir+`/file.$RANK; sleep 100`)...)...)
	_, all := c.processes(t, 2)
	var token []byte
	eventually(t, 20*time.Second, "the token file", func() bool {
		name, _ := os.ReadFile(c.dir + "/file.1")
		token, _ = os.ReadFile(strings.TrimSpace(string(name)))
		return len(token) > 0
	})
	token = bytes.TrimSpace(token)
	if len(token) < 26 {
		t.Errorf("the token has %d characters", len(token))
	}
	if out := command(t, thunderBin, "launch", "--dry-run", "-n", "2", "--", "x"); strings.Contains(out, string(token)) {
		t.Error("the token is in a dry run")
	}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, pid := range append(all, running(l.bin)...) {
		files = append(files, fmt.Sprintf("/proc/%d/environ", pid))
	}
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && bytes.Contains(b, token) {
			t.Errorf("the token is in %s", file)
		}
	}
	interrupt(t, nil, l, nil)
	l.wait(t)
	if strings.Contains(l.out.String()+l.errs.String(), string(token)) {
		t.Error("the token is in the output")
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	hostfile := filepath.Join(t.TempDir(), "hosts.json")
	writeFile(t, hostfile, "[\n  {\"ssh\": \"a\"},\n  {\"ssh\": \"b\",\n   \"slots\": \"two\"}\n]\n")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for _, tt := range []struct {
		args string
		code int
		say  string
	}{
		{"--hostfile " + hostfile + " -- true", 2, hostfile + ":4: [1].slots"},
		{"--hostfile /no/such/file -- true", 2, "/no/such/file"},
		{"--hosts a,,b -- true", 2, "host 2"},
		{"--hosts a:x -- true", 2, "slots"},
		{"--hosts a --hostfile b -- true", 2, "use one or the other"},
		{"--hosts a,b -n 3 -- true", 2, "2 slots"},
		{"-n -1 -- true", 2, "-1 ranks"},
		{"-n 2", 2, "no program"},
		{"-n 2 --env =x -- true", 2, "NAME=value"},
		{"-n 2 --tag maybe -- true", 2, "--tag"},
		{"-n 2 --restart-mode some -- true", 2, "--restart-mode"},
		{"-n 2 --stdin 3 -- true", 2, "--stdin"},
		{"-n 2 --quiet-ranks=x -- true", 2, "--quiet-ranks"},
		{"-n 2 --print-config gloo", 2, "--print-config"},
		{"-n 2 --grace 1h -- true", 1, "grace"},
		{"-n 2 --port " + port + " -- true", 1, "port " + port + " is taken"},
		{"-n 2 -- no-such-program", 127, "no-such-program"},
		{"-n 2 -- /etc/passwd", 126, "permission denied"},
		{"-n 2 --log-dir /proc/none -- true", 1, "log folder"},
	} {
		thunder(t, append([]string{"launch"}, strings.Fields(tt.args)...)...).want(t, tt.code, tt.say)
	}
}

func TestCopy(t *testing.T) {
	t.Parallel()
	f := twoHosts(t)
	dir := t.TempDir()
	if err := os.MkdirAll(dir+"/project/data", 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir+"/project/data/numbers", "one two three\n")
	writeFile(t, dir+"/project/run.sh", "#!/bin/sh\ncat data/numbers; pwd; [ \"$1\" = 'a b' ] || exit 9\n")
	os.Chmod(dir+"/project/run.sh", 0o755)
	for _, tt := range []struct {
		name, wd string
		args     []string
	}{
		{"folder", dir + "/project", []string{"--copy", ".", "--", "./run.sh", "a b"}},
		{"program and data", dir + "/project", []string{"--copy", "run.sh", "--copy", "data", "--", "run.sh", "a b"}},
		{"from elsewhere", t.TempDir(), []string{"--copy", dir + "/project/run.sh", "--copy", dir + "/project/data", "--", dir + "/project/run.sh", "a b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bin := ownBin(t)
			cmd := exec.Command(bin, append([]string{"launch", "--ssh", "ssh -F " + f.config, "--thunder", bin, "--hosts", "a,b"}, tt.args...)...)
			cmd.Dir = tt.wd
			l := start(t, cmd)
			l.want(t, 0, "0@a | one two three", "1@b | one two three")
			for line := range strings.Lines(l.out.String()) {
				if _, folder, ok := strings.Cut(strings.TrimSpace(line), "| /"); ok {
					if _, err := os.Stat("/" + folder); err == nil {
						t.Errorf("/%s is still there", folder)
					}
				}
			}
		})
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	allreduce := filepath.Join(t.TempDir(), "allreduce")
	command(t, "go", "build", "-o", allreduce, "thundercollective/examples/allreduce")
	t.Run("bench", func(t *testing.T) {
		thunder(t, "launch", "-n", "4", "--", "thunder", "bench", "allreduce", "--max", "1KiB").want(t, 0, "0 OK")
	})
	t.Run("go", func(t *testing.T) {
		thunder(t, "launch", "-n", "4", "--", allreduce).want(t, 0, "rank 0 of 4: the ranks add up to 6", "rank 3 of 4: the ranks add up to 6")
	})
	t.Run("go over ssh", func(t *testing.T) {
		twoHosts(t).launch(t, "--hosts", "a:2,b:2", "--", allreduce).want(t, 0, "0@a | rank 0 of 4: the ranks add up to 6", "3@b | rank 3 of 4: the ranks add up to 6")
	})
	t.Run("go here and over ssh", func(t *testing.T) {
		twoHosts(t).launch(t, "--hosts", "localhost:2,b:2", "--", allreduce).want(t, 0, "0@localhost | rank 0 of 4: the ranks add up to 6", "3@b         | rank 3 of 4: the ranks add up to 6")
	})
	t.Run("python", func(t *testing.T) {
		if _, err := exec.LookPath("python3"); err != nil {
			t.Skip("needs python3")
		}
		ring := filepath.Join(root, "examples", "torchrun-variables", "ring.py")
		thunder(t, "launch", "-n", "4", ring).want(t, 0, "0@localhost | the token went around all 4 ranks", "rank 3 of 4, 3 of 4 on this machine: done")
		twoHosts(t).launch(t, "--hosts", "a:2,b:2", "--copy", ring, ring).want(t, 0, "0@a | the token went around all 4 ranks", "3@b | rank 3 of 4, 1 of 2 on this machine: done")
	})
}

// It has the machine for itself, as far as these tests go: 64 ranks on two cores
// are enough of a load.
func TestSixtyFourRanks(t *testing.T) {
	since := time.Now()
	thunder(t, "launch", "-n", "64", "--", "thunder", "bench", "barrier", "--iters", "1", "--warmup", "0").want(t, 0, "64 ranks")
	t.Logf("a barrier of 64 ranks, from launch to end: %v", time.Since(since).Round(time.Millisecond))
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	l := thunder(t, "launch", "--hosts", "a,b:2", "--env", "K=V", "--port", "5000", "--dry-run", "--", "./prog", "two words")
	l.want(t, 0, "on a:", "on b:", "ssh -T", "BatchMode=yes", "rank 2:", "K=V", "THUNDER_COORDINATOR=a:5000", "MASTER_PORT=5001", "./prog 'two words'")
}
