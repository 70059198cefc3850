package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestElastic runs the loop of four ranks undisturbed, and then with ranks killed at
// random and restarted by launch. The numbers are the same to the last bit.
func TestElastic(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "thundercollective/cmd/thunder", "thundercollective/examples/elastic")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(args ...string) string {
		args = append([]string{"launch", "-n", "4", "--restarts", "2", "--", filepath.Join(bin, "elastic"), "-dir", t.TempDir(), "-steps", "60"}, args...)
		cmd := exec.Command(filepath.Join(bin, "thunder"), args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s%s", args, err, out, stderr.String())
		}
		_, numbers, ok := strings.Cut(string(out), "generation ")
		if !ok {
			t.Fatalf("no result in %q", out)
		}
		return strings.TrimSpace(numbers)
	}
	want := run()
	if !strings.HasPrefix(want, "0, step 60: ") {
		t.Fatalf("undisturbed: %q", want)
	}
	runs := 2
	if testing.Short() {
		runs = 1
	}
	for range runs {
		rank, step := rand.IntN(4), rand.IntN(60)
		got := run("-kill-rank", fmt.Sprint(rank), "-kill-step", fmt.Sprint(step))
		t.Logf("rank %d killed at step %d: %s", rank, step, got)
		if got != "1"+want[1:] {
			t.Errorf("rank %d killed at step %d: got %q, want the numbers of %q", rank, step, got, want)
		}
	}
}
