package main

import (
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
