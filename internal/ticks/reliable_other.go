//go:build !(linux && amd64)

package ticks

// reliable says whether the counter is to be used.
func reliable() bool { return false }
