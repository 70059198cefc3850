package e2e_test

import (
	"fmt"
	"testing"

	thunder "thundercollective"
)

// TestCalibrate has the first operation measure. All ranks come to the same model,
// also those of a group made from them, and go on to work.
func TestCalibrate(t *testing.T) {
	o := thunder.Options{Tuning: thunder.Tuning{Calibrate: true}}
	for name, ranks := range map[string]func() []*thunder.Comm{
		"mem":   func() []*thunder.Comm { return memRanks(t, 3, o) },
		"tcp":   func() []*thunder.Comm { return tcpRanks(t, 3, o) },
		"hosts": func() []*thunder.Comm { return hostRanks(t, "BAA", o) },
	} {
		t.Run(name, func(t *testing.T) {
			comms := ranks()
			n := len(comms)
			if comms[0].Model() != nil {
				t.Error("there is a model before anything was measured")
			}
			groups, models := make([]*thunder.Comm, n), make([]thunder.Model, n)
			each(t, n, func(r int) error {
				v := []int32{1}
				if err := thunder.AllReduce(t.Context(), comms[r], v, thunder.Sum); err != nil {
					return err
				}
				if v[0] != int32(n) {
					return fmt.Errorf("the sum is %d", v[0])
				}
				var err error
				if groups[r], err = comms[r].Split(t.Context(), 0, -r); err != nil {
					return err
				}
				if err := thunder.Barrier(t.Context(), groups[r]); err != nil {
					return err
				}
				models[r], err = comms[r].Calibrate(t.Context())
				return err
			})
			if t.Failed() {
				return
			}
			first := comms[0].Model()
			if first == nil || !first.Valid() || !models[0].Valid() {
				t.Fatalf("measured %+v and %+v", first, models[0])
			}
			if mixed := name == "hosts"; mixed != (first.Local != nil) {
				t.Errorf("within a host: %+v", first.Local)
			}
			for r := range n {
				for i, m := range []*thunder.Model{comms[r].Model(), groups[r].Model()} {
					if m == nil || !sameModel(*m, *first) {
						t.Errorf("rank %d, group %d: chooses by %+v, rank 0 by %+v", r, i, m, first)
					}
				}
				if !sameModel(models[r], models[0]) {
					t.Errorf("rank %d measured %+v, rank 0 %+v", r, models[r], models[0])
				}
			}
		})
	}
}

func sameModel(a, b thunder.Model) bool {
	local := func(m thunder.Model) thunder.LinkCost {
		if m.Local == nil {
			return thunder.LinkCost{}
		}
		return *m.Local
	}
	la, lb := local(a), local(b)
	a.Local, b.Local = nil, nil
	return a == b && la == lb
}

// TestNoCalibration checks that nothing is measured unless asked for, nor where a
// profile says it all.
func TestNoCalibration(t *testing.T) {
	comms := memRanks(t, 2, thunder.Options{})
	each(t, 2, func(r int) error { return thunder.Barrier(t.Context(), comms[r]) })
	if m := comms[0].Model(); m != nil {
		t.Errorf("measured %+v without being asked", m)
	}
	alone, err := thunder.Local(1, thunder.Options{Tuning: thunder.Tuning{Calibrate: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer alone[0].Close()
	if err := thunder.Barrier(t.Context(), alone[0]); err != nil {
		t.Error(err)
	}
	if _, err := alone[0].Calibrate(t.Context()); err == nil {
		t.Error("a rank that is alone measured its messages")
	}
}
