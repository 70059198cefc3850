package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRound checks that both versions run equally often, in turns, and that their
// times are not mixed up, whichever begins.
func TestRound(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	program := func(name string, micros int) version {
		path := filepath.Join(dir, name)
		script := fmt.Sprintf("#!/bin/sh\nprintf %s >>%s\necho '{\"lat_us\":{\"p50\":%d}}'\n", name, log, micros)
		if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		return version{name, path}
	}
	m := &measurement{settings: &settings{runs: 4.0 / 48, quantile: 0.5}, base: program("A", 10), head: program("B", 20)}
	for r, want := range []string{"ABBAABBA", "BAABBAAB"} {
		os.Remove(log)
		got, err := m.round(t.Context(), cells()[0], r)
		if err != nil || got != (round{10, 20}) {
			t.Errorf("round %d: got %+v, %v", r, got, err)
		}
		if order, _ := os.ReadFile(log); string(order) != want {
			t.Errorf("round %d: order %s, want %s", r, order, want)
		}
	}
}

func TestCells(t *testing.T) {
	names := map[string]bool{}
	for _, c := range cells() {
		if names[c.String()] {
			t.Errorf("%v is there twice", c)
		}
		names[c.String()] = true
		if alloc := strings.Contains(strings.Join(c.args(), " "), "--alloc"); alloc != c.alloc {
			t.Errorf("%v: args %v", c, c.args())
		}
	}
	for _, want := range []string{"allreduce/tcp/2/8B", "allreduce/shm-alloc/4/64MiB", "ping-pong/shm/2/64KiB"} {
		if !names[want] {
			t.Errorf("%s is missing", want)
		}
	}
	if len(names) != 36 {
		t.Errorf("%d cells, want 36", len(names))
	}
}

// TestExpected checks that a comparison with the defaults fits 20 minutes.
func TestExpected(t *testing.T) {
	m := &measurement{settings: &settings{rounds: 3, runs: 1}, cells: cells()}
	if got := m.expected(); got > 20*60 {
		t.Errorf("three rounds take %.0f s", got)
	}
}

func TestTimeLeft(t *testing.T) {
	now := time.Now()
	c := costs{start: now.Add(-10 * time.Second), done: 5, total: 20}
	if got := c.left(now); got != 30*time.Second {
		t.Errorf("%v left, want 30s", got)
	}
}

func TestFlags(t *testing.T) {
	for args, want := range map[string]string{
		"":                     "-base is required",
		"-base x extra":        "unexpected argument",
		"-base x -rounds 0":    "-rounds is 0",
		"-base x -cells (":     "-cells",
		"-base x -quantile 2":  "-quantile is 2",
		"-base x -runs 0":      "-runs is 0",
		"-base x -cells never": "no cell matches",
	} {
		_, err := run(t.Context(), strings.Fields(args), &strings.Builder{}, &strings.Builder{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}
