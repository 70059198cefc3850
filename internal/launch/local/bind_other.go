//go:build !linux

package local

// CanBind reports whether so many ranks can each have processors of their own. This system
// does not bind processes.
func CanBind(int) bool { return false }

func bound(_, _ int, start func() error) error { return start() }
