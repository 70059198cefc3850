package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"
)

// A traceEvent is an event in the format of Chrome's trace viewer. Times are in
// microseconds.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	At    float64        `json:"ts"`
	Took  float64        `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   uint32         `json:"tid"`
	Args  map[string]any `json:"args,omitempty"`
}

// WriteTrace writes all operations as a trace that Perfetto can open: a process for each
// rank, with a thread for each group and one for the messages with each peer in each
// direction.
func (r *Report) WriteTrace(w io.Writer) error {
	events := []traceEvent{}
	begin := r.begin()
	for rank := range r.Size {
		d := r.byRank[rank]
		if d == nil {
			continue
		}
		events = append(events, traceEvent{Name: "process_name", Phase: "M", PID: rank, Args: map[string]any{"name": fmt.Sprintf("rank %d on %s", rank, d.Host)}})
		pairs := uint32(math.MaxUint32) // counted down so as not to collide with group IDs
		for _, g := range d.Groups {
			for i, ops := range histories(&g) {
				thread := g.ID
				if i > 0 {
					pairs--
					thread = pairs
					p := &g.Pairs[i-1]
					events = append(events, traceEvent{Name: "thread_name", Phase: "M", PID: rank, TID: thread,
						Args: map[string]any{"name": fmt.Sprintf("group %d, %s rank %d", g.ID, p.Direction, p.Peer)}})
				}
				for _, o := range ops {
					events = append(events, traceEvent{
						Name: o.Call, Phase: "X", PID: rank, TID: thread,
						At: micros(o.Begin.Add(r.shift[rank]).Sub(begin)), Took: micros(o.Took),
						Args: map[string]any{"seq": o.Seq, "state": o.State, "bytes": o.Bytes},
					})
				}
			}
		}
	}
	return json.NewEncoder(w).Encode(map[string]any{"traceEvents": events, "displayTimeUnit": "ms"})
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// begin returns the time at which the first operation started.
func (r *Report) begin() (first time.Time) {
	for rank, d := range r.byRank {
		for _, g := range d.Groups {
			for _, ops := range histories(&g) {
				if len(ops) == 0 {
					continue
				}
				if at := ops[0].Begin.Add(r.shift[rank]); first.IsZero() || at.Before(first) {
					first = at
				}
			}
		}
	}
	return first
}
