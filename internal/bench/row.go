package bench

import (
	"encoding/json"
	"io"
	"math"
	"slices"

	thunder "thundercollective"
)

// A Row is the result of one mode at one size, as --json prints it. Times and rates are
// rounded; see round.
type Row struct {
	Mode      Mode   `json:"mode"`
	Fabric    string `json:"fabric"`
	Algo      string `json:"algo"` // the algorithm used, if Auto chose it; or a path without messages: board, shared, roundtrip
	Rank      int    `json:"rank"` // the reporting process
	WorldSize int    `json:"world_size"`
	SizeBytes int64  `json:"size_bytes"` // of the buffer, or of all blocks together
	Count     int64  `json:"count"`      // elements of one block
	DType     string `json:"dtype"`
	Op        string `json:"op"`   // "none" without a reduction
	Root      int    `json:"root"` // -1 without a root
	Streams   int    `json:"streams"`
	Iters     int    `json:"iters"`
	// Alone is set in a job of one rank. It sends nothing, so the row has no times and
	// rates; its results are checked.
	Alone bool `json:"alone,omitempty"`

	// ElapsedSecs is the total time of all iterations, averaged over the ranks.
	ElapsedSecs float64 `json:"elapsed_secs"`
	// GBps is bytes both ways over time, in GB/s: 2·size·iters/elapsed. So it is twice AlgBW,
	// except in PingPong, where both directions are in AlgBW already.
	GBps float64 `json:"gbps"`
	// AlgBW and BusBW are defined as in nccl-tests, in GB/s.
	AlgBW float64 `json:"algbw_gbs"`
	BusBW float64 `json:"busbw_gbs"`
	Lat   Latency `json:"lat_us"`

	// Checked is the number of timed iterations whose results were checked, at most Iters.
	Checked int `json:"checked"`
	// Wrong is the number of elements, on all ranks and in all checked iterations, that differ
	// from the correct result; nil if nothing was checked.
	Wrong *int64 `json:"wrong"`
	// FinalValue is the first element of this rank's result, nil if it has none.
	FinalValue *float64 `json:"final_value"`
	// Checksum covers the results of all ranks, in hexadecimal. It is the same on every
	// rank and in every run, and empty if nothing was checked.
	Checksum string `json:"checksum"`

	// WaitCPU, with Config.Idle, is the processor time of the busiest waiting rank, in
	// percent of one processor.
	WaitCPU *float64 `json:"wait_cpu_percent,omitempty"`
	Prediction
	Pair
}

// A Prediction holds the fields that Config.Explain adds to a row.
type Prediction struct {
	// Predicted is the predicted time of an iteration, Segment the length of the segments
	// in which its messages travelled.
	Predicted *float64       `json:"predicted_us,omitempty"`
	Segment   int            `json:"segment_bytes,omitempty"`
	Model     *thunder.Model `json:"model,omitempty"`
	// Crowding is the number of ranks for each core of rank 0's machine, if above 1.
	// Predicted includes it as a factor: Model is about ranks that have a core each.
	Crowding float64 `json:"ranks_per_core,omitempty"`
}

// A Pair holds the fields that Matrix adds to a row. Row.Lat is then of round trips, and
// Row.AlgBW the rate of From to To alone.
type Pair struct {
	From *int `json:"from,omitempty"`
	To   *int `json:"to,omitempty"`
	// BothBW is the rate of both directions together when both are used at once, in GB/s.
	BothBW *float64 `json:"both_gbs,omitempty"`
	// Rail is the only rail that was used; nil if all rails were.
	Rail *MatrixRail `json:"rail,omitempty"`
}

// Row.Algo of operations that ranks of one machine perform without messages. They are named
// like thunder.Path, but in one word.
const (
	board     = "board"
	shared    = "shared"
	roundTrip = "roundtrip"
)

// Latency is the distribution of the time of one iteration, in microseconds.
type Latency struct {
	Min float64 `json:"min"`
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Bad reports whether the row shows a wrong result.
func (r Row) Bad() bool { return r.Wrong != nil && *r.Wrong > 0 }

// Micros returns the average time of an iteration in microseconds.
func (r Row) Micros() float64 {
	if r.Iters == 0 {
		return 0
	}
	return r.ElapsedSecs * 1e6 / float64(r.Iters)
}

// WriteJSON writes the row as one line of JSON.
func (r Row) WriteJSON(w io.Writer) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// setTimes sets the fields that follow from the seconds that each iteration took.
func (r *Row) setTimes(seconds []float64) {
	r.Iters = len(seconds)
	if r.Alone {
		return
	}
	var total float64
	for _, s := range seconds {
		total += s
	}
	r.ElapsedSecs = round(total)
	r.Lat = latency(seconds)
	if total <= 0 {
		return
	}
	perSecond := float64(r.SizeBytes) * float64(r.Iters) / total / 1e9
	r.GBps = round(2 * perSecond)
	r.AlgBW = perSecond
	if r.Mode == PingPong {
		// An iteration moves the message twice, one after the other.
		r.AlgBW = 2 * perSecond
	}
	r.BusBW = round(r.AlgBW * r.Mode.busFactor(r.WorldSize))
	r.AlgBW = round(r.AlgBW)
}

// setSeries sets the fields that follow from the time of a series of messages, one way or
// both ways at once.
func (r *Row) setSeries(both bool, seconds float64, iters int) {
	perSecond := 0.0
	if seconds > 0 {
		perSecond = float64(r.SizeBytes) * float64(iters) / seconds / 1e9
	}
	if both {
		sum := round(2 * perSecond)
		r.BothBW = &sum
		return
	}
	r.ElapsedSecs, r.Iters = round(seconds), iters
	r.AlgBW = round(perSecond)
	r.BusBW, r.GBps = r.AlgBW, r.AlgBW
}

// forget clears the figures of a rail that was lost while it was measured, since other
// rails may have carried part of the messages.
func (r *Row) forget() {
	r.ElapsedSecs, r.Iters, r.Checked, r.GBps, r.AlgBW, r.BusBW, r.BothBW, r.Lat = 0, 0, 0, 0, 0, 0, nil, Latency{}
	r.Rail.Down = true
}

// latency summarizes the seconds that iterations took.
func latency(seconds []float64) Latency {
	if len(seconds) == 0 {
		return Latency{}
	}
	sorted := slices.Sorted(slices.Values(seconds))
	// The nearest-rank percentile: the smallest value that at least this part of all values
	// do not exceed.
	at := func(part float64) float64 {
		i := int(math.Ceil(part*float64(len(sorted)))) - 1
		return round(sorted[max(i, 0)] * 1e6)
	}
	return Latency{Min: at(0), P50: at(0.50), P99: at(0.99), Max: at(1)}
}

// round rounds to six significant digits, far below the noise of any measurement.
func round(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	unit := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*unit) / unit
}
