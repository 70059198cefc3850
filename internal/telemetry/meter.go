package telemetry

import (
	"sync/atomic"
	"time"

	"thundercollective/internal/collective"
	"thundercollective/internal/metrics"
	"thundercollective/internal/publish"
)

// A Meter counts operations by kind. One goroutine at a time writes it; any number may
// read it meanwhile.
type Meter struct {
	kinds [collective.SendRecv + 1]kindMeter
}

// kindMeter counts the operations of one kind. The two halves of a SendRecv count as a
// send and a receive.
type kindMeter struct {
	bytes, failed atomic.Uint64
	times         metrics.Histogram
}

// Note counts an operation on bytes bytes.
func (m *Meter) Note(kind collective.Kind, bytes uint64, took time.Duration, err error) {
	k := &m.kinds[kind]
	if err != nil {
		publish.Add(&k.failed, 1)
		return
	}
	publish.Add(&k.bytes, bytes)
	k.times.Observe(took)
}

// merge adds the counts of another meter.
func (m *Meter) merge(other *Meter) {
	for i := range m.kinds {
		k, o := &m.kinds[i], &other.kinds[i]
		publish.Add(&k.bytes, o.bytes.Load())
		publish.Add(&k.failed, o.failed.Load())
		k.times.Merge(&o.times)
	}
}
