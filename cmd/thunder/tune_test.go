package main

import (
	"path/filepath"
	"strings"
	"testing"

	thunder "thundercollective"
)

func TestFewestStreams(t *testing.T) {
	for _, tt := range []struct {
		betas []float64
		want  int
	}{
		{[]float64{0.5, 0.3, 0.2, 0.195}, 2}, // all but as good as the best
		{[]float64{0.2, 0.3}, 0},
		{[]float64{0.4, 0.3, 0.2}, 2},
	} {
		var models []thunder.Model
		for i, b := range tt.betas {
			models = append(models, thunder.Model{Beta: b, Streams: i})
		}
		if got := fewestStreams(models).Streams; got != tt.want {
			t.Errorf("%v: took number %d, want %d", tt.betas, got, tt.want)
		}
	}
}

// Ranks that a launcher started measure between each other, and one of them writes.
func TestTuneLaunched(t *testing.T) {
	file := filepath.Join(t.TempDir(), "profile.json")
	res := run(t, "launch", "-n", "2", "--", program, "tune", "--fabric", "tcp", "-o", file)
	if res.code != exitOK || strings.Count(res.stdout, "Written to") != 1 {
		t.Fatalf("exit code %d, %q, %q", res.code, res.stdout, res.stderr)
	}
	profile, err := thunder.ReadProfile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := profile.Fabrics["tcp"]; !ok || len(profile.Fabrics) != 1 {
		t.Errorf("measured %v, want tcp alone", profile.Fabrics)
	}
}

func TestDescribeProfile(t *testing.T) {
	p := &thunder.Profile{Fabrics: map[string]thunder.Model{
		"shm": {Alpha: 0.5, Beta: 0.2, Gamma: 0.02},
		"tcp": {Alpha: 4, Beta: 0.25, Gamma: 0.02, Streams: 1},
	}}
	want := "shm      a message of 0.50 µs, 5.00 GB/s; reducing 50.0 GB/s\n" +
		"tcp      a message of 4.00 µs, 4.00 GB/s; reducing 50.0 GB/s; 1 TCP stream to a peer\n"
	if got := describeProfile(p); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
