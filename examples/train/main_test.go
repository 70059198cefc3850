package main

import (
	"fmt"
	"strings"
	"testing"

	"thundercollective/train"
)

// On any number of ranks, training results in the weights of one rank, and the model
// learns.
func TestSameAsAlone(t *testing.T) {
	for _, ranks := range []int{2, 3, 4} {
		t.Run(fmt.Sprint(ranks), func(t *testing.T) {
			var out strings.Builder
			if err := run(&out, ranks, settings{steps: 40, batch: 48, layers: 4, layerKB: 4}); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"bit for bit", "hidden: "} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the output lacks %q:\n%s", want, out.String())
				}
			}
		})
	}
	if before, after := newModel().loss(48), trainAlone(2, settings{steps: 200, batch: 48}).loss(48); after > before/4 {
		t.Errorf("the loss went from %v to %v only", before, after)
	}
}

func TestNarrowWires(t *testing.T) {
	for _, wire := range []train.Wire{train.BF16, train.F16, train.Int8} {
		var out strings.Builder
		if err := run(&out, 2, settings{steps: 40, batch: 48, wire: wire, layers: 2, layerKB: 4}); err != nil {
			t.Fatalf("%v: %v", wire, err)
		}
	}
}
