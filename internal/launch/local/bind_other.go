//go:build !linux

package local

// BoundEnv tells a rank that it has processors of its own, so that it may poll.
const BoundEnv = "THUNDER_BOUND=1"

// CanBind says whether that many ranks can have processors of their own; this
// system decides by itself where processes run.
func CanBind(int) bool { return false }

func bound(_, _ int, start func() error) error { return start() }
