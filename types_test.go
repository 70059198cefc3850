package thunder_test

import (
	"slices"
	"testing"

	thunder "thundercollective"
)

// TestNames checks that every element type, reduction and algorithm is listed and can
// be read back by its name.
func TestNames(t *testing.T) {
	for _, dt := range thunder.DTypes() {
		if got, err := thunder.ParseDType(dt.String()); got != dt || err != nil {
			t.Errorf("ParseDType(%v) = %v, %v", dt, got, err)
		}
	}
	for _, op := range thunder.Ops() {
		if got, err := thunder.ParseOp(op.String()); got != op || err != nil {
			t.Errorf("ParseOp(%v) = %v, %v", op, got, err)
		}
	}
	for k := thunder.KindAllReduce; k.Valid(); k++ {
		if got, err := thunder.ParseKind(k.String()); got != k || err != nil {
			t.Errorf("ParseKind(%v) = %v, %v", k, got, err)
		}
		algos := thunder.Algos(k)
		if len(algos) == 0 || slices.Contains(algos, thunder.Auto) {
			t.Errorf("%v has the algorithms %v", k, algos)
		}
	}
}

func TestCheckOp(t *testing.T) {
	if err := thunder.CheckOp(thunder.F32, thunder.Sum); err != nil {
		t.Error(err)
	}
	if thunder.CheckOp(thunder.F32, thunder.Xor) == nil || thunder.CheckOp(thunder.Bool, thunder.Avg) == nil {
		t.Error("CheckOp accepts reductions that do not exist")
	}
}

func TestPredict(t *testing.T) {
	comms, err := thunder.Local(2, thunder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range comms {
		defer c.Close()
	}
	m := thunder.Model{Alpha: 10, Beta: 1, Gamma: 0.5}
	// One exchange: a latency, and 1000 bytes sent and reduced.
	if got := thunder.Predict(comms[0], m, thunder.KindAllReduce, thunder.Direct, 1000); got != 11.5 {
		t.Errorf("predicted %v µs, want 11.5", got)
	}
}
