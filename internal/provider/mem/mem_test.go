package mem_test

import (
	"testing"

	"thundercollective/fabric"
	"thundercollective/fabric/fabrictest"
	"thundercollective/internal/provider/mem"
)

func TestConformance(t *testing.T) {
	fabrictest.Run(t, fabrictest.Harness{New: func(t testing.TB, n int) []fabric.Fabric {
		fs, err := mem.New(n)
		if err != nil {
			t.Fatal(err)
		}
		return fs
	}})
}

func TestNewRefusesNoRanks(t *testing.T) {
	if _, err := mem.New(0); err == nil {
		t.Error("no error for 0 ranks")
	}
}
