package thunder

import (
	"io"
	"log/slog"
	"os"

	"thundercollective/fabric"
	"thundercollective/internal/env"
	"thundercollective/internal/provider/stream"
	"thundercollective/internal/recorder"
)

// Over returns ranks in this process on fabrics of the test's own.
func Over(fabrics []fabric.Fabric, o Options) ([]*Comm, error) {
	o, err := o.complete(os.Getenv)
	if err != nil {
		return nil, err
	}
	return over(fabrics, o)
}

// Recording is what the flight recorder and the metrics add to an operation, once.
func (c *Comm) Recording(seq uint64, now int64) int64 {
	a := call{kind: KindAllReduce, dtype: F32, count: 2, seq: seq}
	tag := a.tag()
	past := c.current.past.Load()
	past.Begin(seq, &tag, now, 0)
	after := c.job.clock.Now()
	past.End(seq, after-now, recorder.Done)
	c.meter.note(&a, c.job.clock.Span(after-now), nil)
	return after
}

// WithUSB4 has a rank find its USB4 streams on a machine of the test's own.
func (o Options) WithUSB4(sys stream.System) Options {
	o.usb4 = sys
	return o
}

// LinkTraffic counts what this process has sent to and received from a rank of the
// group in its collectives.
func (c *Comm) LinkTraffic(peer int) Traffic {
	c.paths.mu.Lock()
	defer c.paths.mu.Unlock()
	if counter, ok := c.paths.links[peer].(fabric.Counter); ok {
		return counter.Traffic()
	}
	return Traffic{}
}

// Model returns what the group chooses by; nil for rules of thumb.
func (c *Comm) Model() *Model {
	c.turn.enterAndWait()
	defer c.turn.leave()
	return c.model
}

// NewLogger is what a program without a logger gets.
func NewLogger(w io.Writer, level string) (*slog.Logger, error) {
	r := &env.Reader{Getenv: func(string) string { return level }}
	log := newLogger(w, r)
	return log, r.Err()
}
