package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("LOCAL_TEST_PARENT"); dir != "" {
		parentMain(dir)
		return
	}
	os.Exit(m.Run())
}

// script is a job of ranks that run a shell script; RANK is set.
func script(ranks int, sh string) Config {
	return Config{
		Argv:  []string{"/bin/sh", "-c", sh},
		Ranks: ranks,
		Env:   func(r int) []string { return []string{"RANK=" + strconv.Itoa(r)} },
	}
}

// collect makes both streams of every rank end in one buffer.
func collect(cfg *Config) *bytes.Buffer {
	var b bytes.Buffer
	cfg.Stdout = func(int) io.Writer { return &b }
	cfg.Stderr = cfg.Stdout
	return &b
}

func TestRunSuccess(t *testing.T) {
	cfg := script(4, `echo out $RANK; echo err $RANK >&2; printf "last $RANK"`)
	outs := make([]bytes.Buffer, 4)
	errs := make([]bytes.Buffer, 4)
	cfg.Stdout = func(r int) io.Writer { return &outs[r] }
	cfg.Stderr = func(r int) io.Writer { return &errs[r] }
	var pids, exits int
	cfg.Started = func(_, pid int) { pids++ }
	cfg.Exited = func(_ int, err *ExitError) {
		if err == nil {
			exits++
		}
	}
	if err := Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	for r := range 4 {
		if got, want := outs[r].String(), fmt.Sprintf("out %d\nlast %d", r, r); got != want {
			t.Errorf("rank %d: stdout %q, want %q", r, got, want)
		}
		if got, want := errs[r].String(), fmt.Sprintf("err %d\n", r); got != want {
			t.Errorf("rank %d: stderr %q, want %q", r, got, want)
		}
	}
	if pids != 4 || exits != 4 {
		t.Errorf("told of %d starts and %d good exits, want 4 and 4", pids, exits)
	}
}

func TestRunFailures(t *testing.T) {
	for _, tt := range []struct {
		name   string
		sh     string
		rank   int
		code   int // as a shell reports it
		signal syscall.Signal
		tail   string
	}{
		{"exit code", `[ $RANK = 2 ] && { echo bad news; exit 3; }; exec sleep 100`, 2, 3, 0, "bad news"},
		{"signal", `[ $RANK = 1 ] && { echo ouch >&2; kill -KILL $$; }; exec sleep 100`, 1, 137, syscall.SIGKILL, "ouch"},
		{"others ignore SIGTERM", `[ $RANK = 0 ] && exit 7; trap "" TERM; while :; do sleep 1; done`, 0, 7, 0, ""},
		{"others are stopped", `[ $RANK = 0 ] && exit 7; kill -STOP $$`, 0, 7, 0, ""},
		{"others fail after it", `[ $RANK = 3 ] && { echo first; exit 9; }; sleep 0.2; exit 1`, 3, 9, 0, "first"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := script(4, tt.sh)
			cfg.Linger, cfg.Grace = 500*time.Millisecond, 300*time.Millisecond
			var pids []int
			cfg.Started = func(_, pid int) { pids = append(pids, pid) }
			var e *ExitError
			if err := Run(context.Background(), cfg); !errors.As(err, &e) {
				t.Fatalf("got %v, want an ExitError", err)
			}
			if e.Rank != tt.rank || e.ExitCode() != tt.code || e.Signal != tt.signal {
				t.Errorf("got %v (code %d), want rank %d, code %d, signal %v", e, e.ExitCode(), tt.rank, tt.code, tt.signal)
			}
			if got := strings.Join(e.Tail, "\n"); got != tt.tail {
				t.Errorf("tail %q, want %q", got, tt.tail)
			}
			for _, pid := range pids {
				if processAlive(pid) {
					t.Errorf("process %d is still there", pid)
				}
			}
		})
	}
}

// With Keep, a failure kills what the failed rank left behind, and nothing else.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	cfg := script(3, `
		sh -c 'trap "" TERM; while :; do sleep 0.1; done' &
		echo $$ $! > `+dir+`/new.$RANK && mv `+dir+`/new.$RANK `+dir+`/$RANK
		[ $RANK != 1 ] || exit 3
		trap 'exit 0' TERM; while :; do sleep 0.05; done`)
	cfg.Keep, cfg.Linger, cfg.Grace = true, -1, 300*time.Millisecond
	// both are a rank's process and the one that it started.
	both := func(rank int) (pids [2]int) {
		for {
			if b, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(rank))); err == nil {
				fmt.Sscan(string(b), &pids[0], &pids[1])
				return pids
			}
			time.Sleep(time.Millisecond)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan struct{})
	cfg.Exited = func(rank int, _ *ExitError) {
		if rank == 1 {
			close(failed)
		}
	}
	var all [][2]int
	go func() {
		defer cancel()
		<-failed
		for r := range 3 {
			all = append(all, both(r))
		}
		for processAlive(all[1][1]) {
			time.Sleep(time.Millisecond)
		}
		for _, r := range []int{0, 2} {
			if !processAlive(all[r][0]) || !processAlive(all[r][1]) {
				t.Errorf("rank %d was ended with rank 1", r)
			}
		}
	}()
	var e *ExitError
	if err := Run(ctx, cfg); !errors.As(err, &e) || e.Rank != 1 || e.Code != 3 {
		t.Errorf("got %v, want the failure of rank 1", err)
	}
	for r, pids := range all {
		if processAlive(pids[0]) || processAlive(pids[1]) {
			t.Errorf("a process of rank %d is still there", r)
		}
	}
}

// Survivors have the linger to say what they saw.
func TestSurvivorsReport(t *testing.T) {
	cfg := script(2, `[ $RANK = 0 ] && exit 1; sleep 0.1; echo lost rank 0; exit 1`)
	out := collect(&cfg)
	var e *ExitError
	if err := Run(context.Background(), cfg); !errors.As(err, &e) || e.Rank != 0 {
		t.Fatalf("got %v, want the failure of rank 0", err)
	}
	if out.String() != "lost rank 0\n" {
		t.Errorf("output %q", out)
	}
}

func TestCancel(t *testing.T) {
	cause := errors.New("enough")
	for _, now := range []bool{false, true} {
		t.Run(fmt.Sprintf("now=%v", now), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			// A trap shows whether SIGTERM came before the end.
			cfg := script(2, `trap 'echo term; exit 0' TERM; echo ready; while :; do sleep 0.05; done`)
			kill := make(chan struct{})
			cfg.Now = kill
			var mu sync.Mutex
			var out bytes.Buffer
			ready := 0
			cfg.Stdout = func(int) io.Writer {
				return writerFunc(func(p []byte) {
					mu.Lock()
					defer mu.Unlock()
					out.Write(p)
					if ready += strings.Count(string(p), "ready"); ready == 2 {
						ready = -100
						if now {
							close(kill)
						} else {
							cancel(cause)
						}
					}
				})
			}
			err := Run(ctx, cfg)
			want, terms := cause, 2
			if now {
				want, terms = context.Canceled, 0
			}
			if !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
			if n := strings.Count(out.String(), "term"); n != terms {
				t.Errorf("%d ranks got SIGTERM, want %d", n, terms)
			}
		})
	}
}

func TestBackgroundProcessesEnd(t *testing.T) {
	for _, tt := range []struct{ name, sh string }{
		{"in the group", `sleep 100 & echo $!`},
		{"ignores SIGTERM", `sh -c 'trap "" TERM; echo $$; exec sleep 100' & sleep 0.2`},
		{"in its own session", `setsid sh -c 'echo $$; exec sleep 100' & sleep 0.2`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("setsid"); err != nil && strings.HasPrefix(tt.sh, "setsid") {
				t.Skip("needs setsid")
			}
			cfg := script(1, tt.sh)
			cfg.Grace = 300 * time.Millisecond
			out := collect(&cfg)
			if err := Run(context.Background(), cfg); err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
			if err != nil {
				t.Fatalf("output %q: %v", out, err)
			}
			waitGone(t, pid)
		})
	}
}

func TestStdin(t *testing.T) {
	cfg := script(3, `[ $RANK = 2 ] || cat`)
	pr, pw := io.Pipe()
	cfg.Stdin = func(r int) io.ReadCloser {
		switch r {
		case 0:
			return io.NopCloser(strings.NewReader("to rank 0\n"))
		case 2:
			return pr // never written to, and never read by the rank
		}
		return nil
	}
	out := collect(&cfg)
	if err := Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	if out.String() != "to rank 0\n" {
		t.Errorf("output %q", out)
	}
	if _, err := pw.Write([]byte("x")); err == nil {
		t.Error("stdin of the finished rank is still open")
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	text := dir + "/text"
	if err := os.WriteFile(text, []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		cfg  Config
		code int // 0: not a StartError
	}{
		{"no program", Config{Ranks: 1}, 0},
		{"no ranks", Config{Argv: []string{"true"}}, 0},
		{"too much grace", Config{Argv: []string{"true"}, Ranks: 1, Grace: time.Hour}, 0},
		{"not found", Config{Argv: []string{"no-such-program"}, Ranks: 2}, 127},
		{"no such path", Config{Argv: []string{dir + "/none"}, Ranks: 2}, 127},
		{"not a program", Config{Argv: []string{text}, Ranks: 2}, 126},
		{"no such directory", Config{Argv: []string{"true"}, Ranks: 2, Dir: dir + "/none"}, 127},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Run(context.Background(), tt.cfg)
			var e *StartError
			switch {
			case err == nil:
				t.Fatal("no error")
			case errors.As(err, &e) != (tt.code != 0):
				t.Fatalf("got %v (%T)", err, err)
			case e != nil && e.ExitCode() != tt.code:
				t.Errorf("%v: code %d, want %d", err, e.ExitCode(), tt.code)
			}
		})
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }
