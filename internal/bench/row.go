package bench

import (
	"encoding/json"
	"io"
	"math"
	"slices"

	thunder "thundercollective"
)

// A Row is the result of one mode at one size, as --json prints it. Times and
// rates are rounded to what a reader can use; see round.
type Row struct {
	Mode      Mode   `json:"mode"`
	Fabric    string `json:"fabric"`
	Algo      string `json:"algo"` // the one used, where auto chose it; see pooled
	Rank      int    `json:"rank"` // of the process that reports
	WorldSize int    `json:"world_size"`
	SizeBytes int64  `json:"size_bytes"` // of the buffer; all blocks together where there are blocks
	Count     int64  `json:"count"`      // elements of one block
	DType     string `json:"dtype"`
	Op        string `json:"op"`   // "none" where nothing is reduced
	Root      int    `json:"root"` // -1 where there is none
	Streams   int    `json:"streams"`
	Iters     int    `json:"iters"`

	// ElapsedSecs is the time of all iterations, averaged over the ranks.
	ElapsedSecs float64 `json:"elapsed_secs"`
	// GBps is bytes both ways over time, in GB/s: 2·size·iters/elapsed.
	GBps float64 `json:"gbps"`
	// AlgBW and BusBW are those of nccl-tests, in GB/s.
	AlgBW float64 `json:"algbw_gbs"`
	BusBW float64 `json:"busbw_gbs"`
	Lat   Latency `json:"lat_us"`

	// Wrong counts the elements, on all ranks, that differ from the exactly known
	// result; nil when nothing was checked.
	Wrong *int64 `json:"wrong"`
	// FinalValue is the first element of this rank's result, nil when it has none.
	FinalValue *float64 `json:"final_value"`
	// Checksum is of the result bytes of all ranks, in hexadecimal: the same on
	// every rank and every run. Empty when nothing was checked.
	Checksum string `json:"checksum"`

	// WaitCPU is, with Config.Idle, how much of a processor the busiest of the
	// waiting ranks used, in percent.
	WaitCPU *float64 `json:"wait_cpu_percent,omitempty"`
	Prediction
	Pair
}

// A Prediction is what Config.Explain adds to a row: the time that the model expected.
type Prediction struct {
	// Predicted is the expected time of an iteration, Segment the length of the pieces
	// in which its messages travelled.
	Predicted *float64       `json:"predicted_us,omitempty"`
	Segment   int            `json:"segment_bytes,omitempty"`
	Model     *thunder.Model `json:"model,omitempty"`
	// Crowding is the number of ranks for each core of rank 0's machine, if above 1:
	// Predicted is that many times what Model expects of ranks that have a core each.
	Crowding float64 `json:"ranks_per_core,omitempty"`
}

// A Pair is what a row of Matrix adds. Row.Lat is then of round trips, and Row.AlgBW
// the rate from From to To alone.
type Pair struct {
	From *int `json:"from,omitempty"`
	To   *int `json:"to,omitempty"`
	// BothBW is the rate of both directions together when both are used at once, in GB/s.
	BothBW *float64 `json:"both_gbs,omitempty"`
	// Rail is the only rail that was used; nil if all were.
	Rail *MatrixRail `json:"rail,omitempty"`
}

// Row.Algo of operations that need no messages: ranks showed each other the data on a
// board, took it from each other's memory, or lent it to each other to be worked on.
const (
	board   = "board"
	pooled  = "pooled"
	travels = "roundtrip"
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

// Micros is the average time of an iteration in microseconds.
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

// setTimes fills in what follows from the seconds that each iteration took.
func (r *Row) setTimes(seconds []float64) {
	r.Iters = len(seconds)
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

// setTrain fills in what follows from the time of a train of messages, one way or
// both ways at once.
func (r *Row) setTrain(both bool, seconds float64, iters int) {
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

// forget drops the figures of a rail that was lost while it was measured: others
// may have carried part of it.
func (r *Row) forget() {
	r.ElapsedSecs, r.Iters, r.GBps, r.AlgBW, r.BusBW, r.BothBW, r.Lat = 0, 0, 0, 0, 0, nil, Latency{}
	r.Rail.Down = true
}

// latency sums up the seconds that iterations took.
func latency(seconds []float64) Latency {
	if len(seconds) == 0 {
		return Latency{}
	}
	sorted := slices.Sorted(slices.Values(seconds))
	// The nearest-rank percentile: the least value that at least that part of all
	// values do not exceed.
	at := func(part float64) float64 {
		i := int(math.Ceil(part*float64(len(sorted)))) - 1
		return round(sorted[max(i, 0)] * 1e6)
	}
	return Latency{Min: at(0), P50: at(0.50), P99: at(0.99), Max: at(1)}
}

// round keeps six significant digits, far below the noise of any measurement.
func round(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	unit := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*unit) / unit
}
