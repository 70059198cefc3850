package bench

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestRowJSONHasTheFieldsScriptsRelyOn(t *testing.T) {
	var wrong int64
	value := 3.0
	r := Row{Mode: AllReduce, Fabric: "tcp", Algo: "ring", Rank: 1, WorldSize: 4, SizeBytes: 1024, Count: 256,
		DType: "f32", Op: "sum", Root: -1, Streams: 4, Checked: 3, Wrong: &wrong, FinalValue: &value, Checksum: "00c0ffee"}
	r.setTimes([]float64{1e-3, 2e-3, 1e-3})
	var b strings.Builder
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	const want = `{"mode":"allreduce","fabric":"tcp","algo":"ring","rank":1,"world_size":4,"size_bytes":1024,"count":256,` +
		`"dtype":"f32","op":"sum","root":-1,"streams":4,"iters":3,"elapsed_secs":0.004,"gbps":0.001536,"algbw_gbs":0.000768,` +
		`"busbw_gbs":0.001152,"lat_us":{"min":1000,"p50":1000,"p99":2000,"max":2000},"checked":3,"wrong":0,"final_value":3,"checksum":"00c0ffee"}` + "\n"
	if b.String() != want {
		t.Errorf("got  %swant %s", b.String(), want)
	}
	var back Row
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil || back.Micros() != r.Micros() || back.Bad() {
		t.Errorf("read back as %+v, %v", back, err)
	}
}

func TestBandwidths(t *testing.T) {
	// One GB in one second, by the formulas of nccl-tests.
	for mode, want := range map[Mode][3]float64{ // gbps, algbw, busbw on 4 ranks
		PingPong:      {2, 2, 2},
		AllReduce:     {2, 1, 1.5},
		ReduceScatter: {2, 1, 0.75},
		AllGather:     {2, 1, 0.75},
		Gather:        {2, 1, 0.75},
		Scatter:       {2, 1, 0.75},
		AllToAll:      {2, 1, 0.75},
		Broadcast:     {2, 1, 1},
		Reduce:        {2, 1, 1},
		SendRecv:      {2, 1, 1},
	} {
		r := Row{Mode: mode, WorldSize: 4, SizeBytes: 1e9}
		r.setTimes([]float64{1})
		if got := [3]float64{r.GBps, r.AlgBW, r.BusBW}; got != want {
			t.Errorf("%s: %v, want %v", mode, got, want)
		}
	}
	r := Row{Mode: AllReduce, WorldSize: 1, SizeBytes: 8}
	r.setTimes([]float64{0, 0})
	if r.AlgBW != 0 || r.Lat != (Latency{}) {
		t.Errorf("no time at all: %+v", r)
	}
}

func TestLatency(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100-i) * 1e-6
	}
	for _, c := range []struct {
		in   []float64
		want Latency
	}{
		{nil, Latency{}},
		{[]float64{5e-6}, Latency{5, 5, 5, 5}},
		{[]float64{3e-6, 1e-6, 2e-6}, Latency{1, 2, 3, 3}},
		{hundred, Latency{1, 50, 99, 100}},
	} {
		if got := latency(c.in); got != c.want {
			t.Errorf("latency of %d values = %v, want %v", len(c.in), got, c.want)
		}
	}
}

func TestRound(t *testing.T) {
	for in, want := range map[float64]float64{0: 0, 1.23456789: 1.23457, 123456.789: 123457, 0.000123456789: 0.000123457, -2.5: -2.5} {
		if got := round(in); math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("round(%v) = %v, want %v", in, got, want)
		}
	}
	if !math.IsInf(round(math.Inf(1)), 1) {
		t.Error("infinity was not left alone")
	}
}
