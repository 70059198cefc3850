package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"thundercollective/internal/topology"
)

// A Measurement is the result of one tool on one cable.
type Measurement struct {
	Cable     int    `json:"cable"`
	Transport string `json:"transport"` // topology.OverTCP or OverRDMA
	Tool      string `json:"tool"`
	Command   string `json:"command"`
	Rows      []Row  `json:"rows,omitempty"`
	Err       string `json:"error,omitempty"` // why it failed
	Skipped   string `json:"skipped,omitempty"`
}

// A Row is the result for one message size.
type Row struct {
	Size  int     `json:"size_bytes"`
	GBs   float64 `json:"gbs"` // in one direction
	P50us float64 `json:"p50_us,omitempty"`
	P99us float64 `json:"p99_us,omitempty"`
	Wrong int     `json:"wrong,omitempty"` // number of corrupted elements
}

// Best returns the highest measured rate, in GB/s.
func (m *Measurement) Best() float64 {
	best := 0.0
	for _, r := range m.Rows {
		best = max(best, r.GBs)
	}
	return best
}

// Latency returns the median time of the smallest message, in microseconds one way; 0 if
// it was not measured.
func (m *Measurement) Latency() float64 {
	if len(m.Rows) == 0 {
		return 0
	}
	first := m.Rows[0]
	for _, r := range m.Rows {
		if r.Size < first.Size {
			first = r
		}
	}
	return first.P50us
}

// ParseBench parses the rows of `thunder bench --json`: one JSON object per row. Only
// those of rank 0 count, so that the outputs of two ranks may be concatenated.
func ParseBench(b []byte) ([]Row, error) {
	var out []Row
	d := json.NewDecoder(bytes.NewReader(b))
	for {
		var raw json.RawMessage
		err := d.Decode(&raw)
		if err == io.EOF {
			break
		}
		if err != nil {
			return out, fmt.Errorf("parse bench output: %w", err)
		}
		var r struct {
			Rank  int     `json:"rank"`
			Size  int     `json:"size_bytes"`
			GBs   float64 `json:"gbps"`
			Wrong int     `json:"wrong"`
			Lat   struct {
				P50 float64 `json:"p50"`
				P99 float64 `json:"p99"`
			} `json:"lat_us"`
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			return out, fmt.Errorf("parse bench output: %w", err)
		}
		if r.Rank == 0 && r.GBs > 0 && r.Size > 0 {
			// An iteration is a message in each direction. gbps counts both, so it is
			// the rate of one direction; the time must be halved.
			out = append(out, Row{Size: r.Size, GBs: r.GBs, P50us: r.Lat.P50 / 2, P99us: r.Lat.P99 / 2, Wrong: r.Wrong})
		}
	}
	if len(out) == 0 {
		return nil, errors.New("parse bench output: it has no row")
	}
	return out, nil
}

// check compares a measurement with what the cable should reach.
func (m *Measurement) check(g *topology.Graph) Check {
	c := &g.Cables[m.Cable]
	e := Expect(g, c, m.Transport)
	ch := Check{
		ID: "cable.throughput", Phase: TCP, Machine: -1, Cable: m.Cable, Subject: "cable " + c.String(),
		Title: m.Tool, Command: m.Command, Target: fmt.Sprintf("> %.1f GB/s (%s)", e.Fine, e.Why),
	}
	if m.Transport == topology.OverRDMA {
		ch.Phase = RDMA
	}
	switch {
	case m.Skipped != "":
		ch.Status, ch.Actual = Skip, "not measured: "+m.Skipped
		return ch
	case m.Err != "":
		ch.Status, ch.Actual = Fail, "could not be measured"
		ch.Cause, ch.Fix = m.Err, "fix what fails above, then run it by hand: "+m.Command
		return ch
	}
	for _, r := range m.Rows {
		if r.Wrong > 0 {
			ch.Status, ch.Actual = Fail, fmt.Sprintf("%d elements of %d bytes were corrupted", r.Wrong, r.Size)
			ch.Cause, ch.Fix = "the cable corrupts data", "replace the cable; do not use it"
			return ch
		}
	}
	status, grade := e.Grade(m.Best())
	ch.Status, ch.Actual = status, fmt.Sprintf("%.2f GB/s, %s", m.Best(), grade)
	if l := m.Latency(); l > 0 {
		ch.Actual += fmt.Sprintf("; %.1f µs one way", l)
	}
	if status != Pass {
		ch.Cause = fmt.Sprintf("this cable should reach %.1f GB/s (%s)", e.Fine, e.Why)
		ch.Fix = slowFix(m.Transport)
	}
	return ch
}

func slowFix(transport string) string {
	if transport == topology.OverRDMA {
		return "check the physical phase first (speed, hub, PCIe width); then measure with nothing else running; then try another cable"
	}
	return "check MTU, buffers and heat above; then try more streams (--num-streams 8); then another cable"
}
