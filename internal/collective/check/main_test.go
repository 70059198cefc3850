package check

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage pile up: the proof makes much of it, all short-lived.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}
