package e2e_test

import (
	"testing"

	thunder "thundercollective"
)

// Ranks of one process have no rails to choose from; package bench uses them where
// there are several.
func TestOnlyRailWithoutRails(t *testing.T) {
	comms, err := thunder.Local(2, thunder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer comms[0].Close()
	defer comms[1].Close()
	if rails := comms[0].RailsTo(1); rails != nil {
		t.Errorf("rails %+v", rails)
	}
	for _, rail := range []int{-1, 0} {
		if err := comms[0].OnlyRail(1, rail); err == nil {
			t.Errorf("rail %d was chosen", rail)
		}
	}
}
