package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"thundercollective/internal/bench"
	"thundercollective/internal/patience"
)

var long = flag.Bool("long", false, "run every mode on 1 to 9 ranks with every algorithm")

// program is the binary under test, built once.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "thunder-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "thunder")
	if raceDetector {
		return m.Run()
	}
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	code := m.Run()
	if left := running(); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "processes were left behind:\n%s\n", strings.Join(left, "\n"))
		return 1
	}
	return code
}

// running lists the processes of the binary under test, "pid args" each.
func running() (list []string) {
	out, err := exec.Command("ps", "-A", "-o", "pid=,args=").Output()
	if err != nil {
		return []string{err.Error()}
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, program) {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

// deadline is far beyond what any of the commands below takes where the machine has time
// for it.
const deadline = 2 * time.Minute

// A result is what a command left.
type result struct {
	stdout, stderr string
	code           int
}

// needProgram skips tests with the race detector, which the program does not have: they
// would do the same again.
func needProgram(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("SKIPPED with the race detector: the program is built without it, and runs in the tests without it")
	}
}

// command prepares a run of the program with nothing of a job in its environment.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	needProgram(t)
	ctx, cancel := patience.Context(context.Background(), deadline)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "THUNDER_") && !strings.HasPrefix(v, "MLX_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return cmd
}

// finish runs a command to its end.
func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

func run(t *testing.T, args ...string) result {
	t.Helper()
	return finish(t, command(t, args...))
}

// rowsOf runs a command that has to succeed and returns its rows.
func rowsOf(t *testing.T, args ...string) []bench.Row {
	t.Helper()
	res := run(t, args...)
	if res.code != 0 {
		t.Fatalf("thunder %s: exit code %d\n%s", strings.Join(args, " "), res.code, res.stderr)
	}
	return parse(t, res.stdout)
}

func parse(t *testing.T, text string) (rows []bench.Row) {
	t.Helper()
	for line := range strings.Lines(text) {
		var r bench.Row
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil {
			t.Fatalf("%q is not a row: %v", line, err)
		}
		rows = append(rows, r)
	}
	return rows
}

// right reports rows that are not as they should be.
func right(t *testing.T, rows []bench.Row, mode bench.Mode, ranks int) {
	t.Helper()
	for _, r := range rows {
		if r.Wrong == nil || *r.Wrong != 0 || r.Mode != mode || r.WorldSize != ranks || r.Iters < 1 {
			t.Errorf("%s on %d ranks: %+v", mode, ranks, r)
		}
	}
}
