package collective

import (
	"slices"
	"testing"
	"thundercollective/internal/reduce"
)

var testModel = Model{Alpha: 8, Beta: 0.4, Gamma: 0.05}

func TestModelChoosesWhatItPredictsFastest(t *testing.T) {
	for k := Kind(1); k.Valid(); k++ {
		if k.PointToPoint() {
			continue
		}
		for _, size := range []int{2, 3, 4, 8, 16} {
			for bytes := 4; bytes <= 64<<20; bytes *= 8 {
				got := testModel.Choose(k, size, nil, bytes)
				if !slices.Contains(Algos(k), got) {
					t.Fatalf("%v on %d ranks, %d bytes: chose %v, which it does not have", k, size, bytes, got)
				}
				for _, a := range equals(k) {
					if testModel.Predict(k, a, size, nil, bytes) < testModel.Predict(k, got, size, nil, bytes) {
						t.Errorf("%v on %d ranks, %d bytes: chose %v, but %v is predicted faster", k, size, bytes, got, a)
					}
				}
			}
		}
	}
}

// equals are the algorithms that do not follow cables.
func equals(k Kind) []Algo {
	return slices.DeleteFunc(Algos(k), func(a Algo) bool { return a == Cable || a == Mesh })
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
		if got := testModel.Choose(AllReduce, 4, nil, tt.bytes); !slices.Contains(tt.want, got) {
			t.Errorf("%d bytes on 4 ranks: %v, want one of %v", tt.bytes, got, tt.want)
		}
	}
}

func TestModelGrowsWithLengthAndNeverWithoutRanks(t *testing.T) {
	for _, a := range equals(AllReduce) {
		if a == Hier {
			continue // without hosts it is one or the other
		}
		last := 0.0
		for bytes := 4; bytes <= 1<<24; bytes *= 2 {
			now := testModel.Predict(AllReduce, a, 8, nil, bytes)
			if now <= last {
				t.Errorf("%v: %d bytes take %v µs, half of it %v", a, bytes, now, last)
			}
			last = now
		}
		if got := testModel.Predict(AllReduce, a, 1, nil, 100); got != 0 {
			t.Errorf("%v alone takes %v µs", a, got)
		}
	}
}

func TestModelValid(t *testing.T) {
	if !testModel.Valid() || (Model{}).Valid() || (Model{Alpha: 1, Beta: -1}).Valid() {
		t.Error("a model is valid when its times are positive")
	}
}

func TestModelOnHosts(t *testing.T) {
	for _, shape := range []string{"AABB", "AABBCC", "AAAABBBB", "ABAB"} {
		hosts, n := hostsOf(shape), len(shape)
		for _, k := range []Kind{AllReduce, ReduceScatter, AllGather, Broadcast, Reduce} {
			if (k == Broadcast || k == Reduce) && shape != "ABAB" {
				continue // a chain in the order of the ranks crosses no more often
			}
			if got := ChooseMixed(k, n, hosts, 16<<20); got != Hier {
				t.Errorf("%v of 16 MiB on %s: %v", k, shape, got)
			}
		}
		for k := Kind(1); k.Valid(); k++ {
			for bytes := 4; bytes <= 64<<20; bytes *= 8 {
				got := ChooseMixed(k, n, hosts, bytes)
				for _, a := range equals(k) {
					if typical.Predict(k, a, n, hosts, bytes) < typical.Predict(k, got, n, hosts, bytes) {
						t.Errorf("%v of %d bytes on %s: chose %v, but %v is predicted faster", k, bytes, shape, got, a)
					}
				}
			}
		}
	}
	// Links of one kind leave nothing to gain within hosts but what crosses less.
	dear := Model{Alpha: 1, Beta: 0.001, Gamma: 0, Local: &LinkCost{Alpha: 1, Beta: 10}}
	if got := dear.Choose(AllReduce, 4, hostsOf("AABB"), 64<<20); got == Hier {
		t.Errorf("with dear links within hosts: %v", got)
	}
	for _, shape := range []string{"AAAA", "ABCD"} {
		if got := testModel.Choose(AllReduce, 4, hostsOf(shape), 64<<20); got == Hier {
			t.Errorf("chose %v on %s, where there is nothing to do within hosts", got, shape)
		}
	}
	near := Model{Alpha: 100, Beta: 9, Local: &LinkCost{Alpha: 1, Beta: 1}}
	if far, here := near.Predict(AllReduce, Ring, 4, hostsOf("ABCD"), 1000), near.Predict(AllReduce, Ring, 4, hostsOf("AAAA"), 1000); far <= here {
		t.Errorf("%v µs between hosts, %v within one", far, here)
	}
}

func TestModelSegment(t *testing.T) {
	for _, a := range Algos(AllReduce) {
		for _, hosts := range []*Hosts{nil, hostsOf("AABB")} {
			last := 0
			for bytes := 0; bytes <= 1<<28; bytes = max(1, bytes*4) {
				got := testModel.Segment(AllReduce, a, 4, hosts, bytes)
				if got < leastSegment || got > mostSegment || got&(got-1) != 0 {
					t.Errorf("%v of %d bytes in pieces of %d", a, bytes, got)
				}
				if got < last {
					t.Errorf("%v of %d bytes in pieces of %d, fewer bytes in pieces of %d", a, bytes, got, last)
				}
				last = got
			}
		}
	}
	// The optimum of a chain, worked out by hand: √(4 MiB · 8 µs / (2 · 0.45 ns/B)) = 193 KB.
	if got := testModel.Segment(Broadcast, Ring, 4, nil, 4<<20); got != 256<<10 {
		t.Errorf("a chain of 4 passes 4 MiB on in pieces of %d", got)
	}
	slow := testModel
	slow.Alpha *= 100
	if slow.Segment(Broadcast, Ring, 4, nil, 1<<20) <= testModel.Segment(Broadcast, Ring, 4, nil, 1<<20) {
		t.Error("dear messages should be longer")
	}
}

// TestSegmentOfPlan checks that a plan is cut as the spec says.
func TestSegmentOfPlan(t *testing.T) {
	for segment, want := range map[int]int{0: DefaultSegment, 1000: 4000} {
		p, err := NewPlan(Spec{Kind: Broadcast, Algo: Ring, Size: 2, Count: 200_000, Segment: segment}, reduce.F32, reduce.Sum)
		if err != nil {
			t.Fatal(err)
		}
		if p.Segment() != want {
			t.Errorf("segment %d: %d bytes, want %d", segment, p.Segment(), want)
		}
		for _, a := range p.lanes[0].actions {
			if a.Len()*4 > want {
				t.Errorf("a message of %d bytes in pieces of %d", a.Len()*4, want)
			}
		}
	}
}
