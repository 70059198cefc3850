package group

import (
	"testing"

	"thundercollective/internal/collective"
	"thundercollective/internal/recorder"
	"thundercollective/internal/reduce"
	"thundercollective/internal/telemetry"
	"thundercollective/internal/ticks"
)

// BenchmarkRecording is what the flight recorder and the metrics add to an operation.
func BenchmarkRecording(b *testing.B) {
	clock, past := ticks.New(), recorder.NewRing(HistoryWorld)
	var meter telemetry.Meter
	now := clock.Now()
	seq := uint64(0)
	for b.Loop() {
		seq++
		a := call{kind: collective.AllReduce, dtype: reduce.F32, count: 2, seq: seq}
		tag := a.tag()
		past.Begin(seq, &tag, now, 0)
		after := clock.Now()
		past.End(seq, after-now, recorder.Done)
		meter.Note(a.kind, a.bytes(), clock.Span(after-now), nil)
		now = after
	}
}
