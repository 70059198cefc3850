package main

import "testing"

// TestTurns: in every round, all contenders time all sizes, short ones as often as they
// are to be started, unless that takes long; and it is not always the same who begins.
func TestTurns(t *testing.T) {
	s := &settings{sizes: []int{4, 64 << 10, 256 << 10, 1 << 20}, starts: 3}
	list := []contender{{name: "a"}, {name: "b"}, {name: "c", slow: true}}
	first := map[string]bool{}
	for round := range 3 {
		times := map[string]map[int]int{"a": {}, "b": {}, "c": {}}
		order := turns(list, s, round)
		first[order[0].who.name] = true
		for _, turn := range order {
			for _, size := range turn.sizes {
				times[turn.who.name][size]++
			}
		}
		for name, got := range times {
			for _, size := range s.sizes {
				want := 1
				if size < longFrom && name != "c" {
					want = 3
				}
				if got[size] != want {
					t.Errorf("round %d: %s times %d bytes %d times, want %d", round, name, size, got[size], want)
				}
			}
		}
	}
	if len(first) != len(list) {
		t.Errorf("only %v began a round", first)
	}
}
