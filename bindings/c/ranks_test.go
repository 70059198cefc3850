//go:build cgo

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"thundercollective/internal/freeaddr"
)

// TestRanks builds the library and a C program, and runs it as the ranks of jobs; then
// again with AddressSanitizer, which also sees Go's accesses to C memory.
func TestRanks(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("SKIP: no C compiler (cc)")
	}
	t.Run("plain", func(t *testing.T) {
		runJobs(t, build(t, cc, nil, nil))
	})
	t.Run("asan", func(t *testing.T) {
		if out, err := tryASan(t, cc); err != nil {
			t.Skipf("SKIP: the C compiler has no AddressSanitizer: %v\n%s", err, out)
		}
		runJobs(t, build(t, cc, []string{"-asan"}, []string{"-fsanitize=address"}))
	})
}

func tryASan(t *testing.T, cc string) ([]byte, error) {
	src := filepath.Join(t.TempDir(), "empty.c")
	if err := os.WriteFile(src, []byte("int main(void) { return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return exec.Command(cc, "-fsanitize=address", "-o", src+".out", src).CombinedOutput()
}

// build returns the path of the program, which is linked with a library in its directory.
func build(t *testing.T, cc string, goFlags, cFlags []string) string {
	t.Helper()
	dir := t.TempDir()
	lib := filepath.Join(dir, "libthunder.so")
	args := append([]string{"build", "-buildmode=c-shared", "-o", lib}, goFlags...)
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	program := filepath.Join(dir, "ranks")
	args = append([]string{"-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror", "-g", "-I.", "-o", program, "testdata/ranks.c",
		"-L" + dir, "-lthunder", "-Wl,-rpath," + dir, "-lpthread"}, cFlags...)
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	return program
}

func runJobs(t *testing.T, program string) {
	for _, job := range []struct {
		size int
		end  string
	}{{1, ""}, {2, "mismatch"}, {3, "abort"}, {4, ""}, {2, "timeout"}} {
		t.Run(fmt.Sprintf("%d%s", job.size, job.end), func(t *testing.T) {
			runJob(t, program, job.size, job.end)
		})
	}
}

func runJob(t *testing.T, program string, size int, end string) {
	coordinator := freeaddr.Loopback(t, 1)[0]
	outputs := make([]bytes.Buffer, size)
	errs := make([]error, size)
	var wg sync.WaitGroup
	for r := range size {
		cmd := exec.Command(program, strings.Fields(end)...)
		cmd.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0", "THUNDER_TIMEOUT=60s")
		if size > 1 {
			cmd.Env = append(cmd.Env, fmt.Sprint("THUNDER_RANK=", r), fmt.Sprint("THUNDER_WORLD_SIZE=", size), "THUNDER_COORDINATOR="+coordinator)
		}
		cmd.Stdout, cmd.Stderr = &outputs[r], &outputs[r]
		cmd.WaitDelay = time.Second
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stuck := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
		wg.Go(func() {
			errs[r] = cmd.Wait()
			stuck.Stop()
		})
	}
	wg.Wait()
	for r, err := range errs {
		if err != nil {
			t.Errorf("rank %d of %d: %v\n%s", r, size, err, outputs[r].String())
		}
	}
}
