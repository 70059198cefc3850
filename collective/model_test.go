package collective

import (
	"slices"
	"testing"
)

var testModel = Model{Alpha: 8, Beta: 0.4, Gamma: 0.05}

func TestModelChoosesWhatItPredictsFastest(t *testing.T) {
	for k := Kind(1); k.Valid(); k++ {
		if k.PointToPoint() {
			continue
		}
		for _, size := range []int{2, 3, 4, 8, 16} {
			for bytes := 4; bytes <= 64<<20; bytes *= 8 {
				got := testModel.Choose(k, size, bytes)
				if !slices.Contains(Algos(k), got) {
					t.Fatalf("%v on %d ranks, %d bytes: chose %v, which it does not have", k, size, bytes, got)
				}
				for _, a := range Algos(k) {
					if testModel.Predict(k, a, size, bytes) < testModel.Predict(k, got, size, bytes) {
						t.Errorf("%v on %d ranks, %d bytes: chose %v, but %v is predicted faster", k, size, bytes, got, a)
					}
				}
			}
		}
	}
}

func TestModelExtremes(t *testing.T) {
	tests := []struct {
		bytes int
		want  []Algo
	}{
		{8, []Algo{Direct}}, // one latency
		{64 << 20, []Algo{Ring, BiRing, HalvingDoubling}}, // the fewest bytes
	}
	for _, tt := range tests {
		if got := testModel.Choose(AllReduce, 4, tt.bytes); !slices.Contains(tt.want, got) {
			t.Errorf("%d bytes on 4 ranks: %v, want one of %v", tt.bytes, got, tt.want)
		}
	}
}

func TestModelGrowsWithLengthAndNeverWithoutRanks(t *testing.T) {
	for _, a := range Algos(AllReduce) {
		last := 0.0
		for bytes := 4; bytes <= 1<<24; bytes *= 2 {
			now := testModel.Predict(AllReduce, a, 8, bytes)
			if now <= last {
				t.Errorf("%v: %d bytes take %v µs, half of it %v", a, bytes, now, last)
			}
			last = now
		}
		if got := testModel.Predict(AllReduce, a, 1, 100); got != 0 {
			t.Errorf("%v alone takes %v µs", a, got)
		}
	}
}

func TestModelValid(t *testing.T) {
	if !testModel.Valid() || (Model{}).Valid() || (Model{Alpha: 1, Beta: -1}).Valid() {
		t.Error("a model is valid when its times are positive")
	}
}
