package main

import (
	"strings"
	"testing"

	thunder "thundercollective"
	"thundercollective/internal/bench"
)

func TestExplanation(t *testing.T) {
	cpu, predicted := 0.25, 20.0
	rows := []bench.Row{{
		SizeBytes: 4096, Algo: "ring", Fabric: "tcp", Streams: 3, ElapsedSecs: 4, WaitCPU: &cpu, Lat: bench.Latency{P50: 30},
		Prediction: bench.Prediction{
			Predicted: &predicted, Segment: 65536, Crowding: 1.5,
			Model: &thunder.Model{Alpha: 8, Beta: 0.5, Gamma: 0.1, Local: &thunder.LinkCost{Alpha: 2, Beta: 0.25}},
		},
	}}
	got := explanation(rows)
	if strings.Contains(got, "--help") {
		t.Errorf("a row that is predicted is excused:\n%s", got)
	}
	for _, want := range []string{"0.250 % of a processor over 4.0 s", "8.00 µs, 2.00 GB/s", "reducing at 10.0 GB/s, times 1.5 for", "2.00 µs, 4.00 GB/s within", "4096", "ring", "65536", "3", "20.00", "30.00", "1.50"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	shared := bench.Row{SizeBytes: 8192, Algo: "shared", Fabric: "shm", Prediction: bench.Prediction{Model: rows[0].Model}, Lat: bench.Latency{P50: 5}}
	if got := explanation([]bench.Row{shared}); !strings.Contains(got, "8192    shared         -        -              -           5.00        -") || !strings.Contains(got, "--help") {
		t.Errorf("a row without messages is explained as\n%s", got)
	}
	if got := explanation([]bench.Row{{}}); got != "" {
		t.Errorf("a plain row is explained: %q", got)
	}
}
