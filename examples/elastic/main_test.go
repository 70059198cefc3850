package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestElastic runs four ranks undisturbed, and then with a random rank killed, after which
// launch restarts that rank or all of them. The results must be the same to the last bit,
// and ranks that were not restarted must still be the same processes.
func TestElastic(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "thundercollective/cmd/thunder", "thundercollective/examples/elastic")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	launch := func(mode string, args ...string) *result {
		args = append([]string{"launch", "-n", "4", "--restarts", "1", "--restart-mode", mode, "--reform-wait", "1m", "--",
			filepath.Join(bin, "elastic"), "-dir", t.TempDir(), "-steps", "60"}, args...)
		cmd := exec.Command(filepath.Join(bin, "thunder"), args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s%s", args, err, out, stderr.String())
		}
		return read(t, string(out), stderr.String())
	}
	want := launch("rank")
	if want.generation != 0 || strings.Contains(want.notes, "restart") {
		t.Fatalf("undisturbed: %+v", want)
	}
	modes := []string{"rank", "rank", "all"}
	if testing.Short() {
		modes = modes[:1]
	}
	for _, mode := range modes {
		victim, step := rand.IntN(4), rand.IntN(60)
		got := launch(mode, "-kill-rank", fmt.Sprint(victim), "-kill-step", fmt.Sprint(step))
		t.Logf("%s: rank %d killed at step %d: %s", mode, victim, step, got.numbers)
		if got.generation == 0 || got.numbers != want.numbers {
			t.Errorf("rank %d killed at step %d: got %s in generation %d, want %s", victim, step, got.numbers, got.generation, want.numbers)
		}
		if want := fmt.Sprintf("restart 1 of 1: rank %d starts again in generation 1", victim); mode == "rank" && !strings.Contains(got.notes, want) {
			t.Errorf("it does not say %q", want)
		}
		for rank, pids := range got.pids {
			if same := len(pids) == 2 && pids[0] == pids[1]; same != (mode == "rank" && rank != victim) {
				t.Errorf("%s: rank %d, with rank %d killed, was in processes %v", mode, rank, victim, pids)
			}
		}
		if t.Failed() {
			t.Log(got.notes)
		}
	}
}

// A result holds the output of a run.
type result struct {
	generation int
	numbers    string
	pids       [4][]int // of each rank, by generation
	notes      string   // messages of the launcher, and the ranks' errors
}

func read(t *testing.T, out, notes string) *result {
	t.Helper()
	r := &result{notes: notes}
	ended := false
	for line := range strings.Lines(out) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), " | ")
		var rank, pid, generation, step int
		if _, err := fmt.Sscanf(line, "rank %d, process %d: generation %d from step %d", &rank, &pid, &generation, &step); err == nil {
			r.pids[rank] = append(r.pids[rank], pid)
		}
		if _, err := fmt.Sscanf(line, "the end in generation %d, step %d", &r.generation, &step); err == nil {
			ended = step == 60
			_, r.numbers, _ = strings.Cut(line, ": ")
		}
	}
	if !ended || slices.ContainsFunc(r.pids[:], func(pids []int) bool { return len(pids) == 0 }) {
		t.Fatalf("no result in\n%s%s", out, notes)
	}
	return r
}
