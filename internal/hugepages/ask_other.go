//go:build !linux

package hugepages

func within([]byte) (from, to uintptr) { return 0, 0 }

// Fresh does nothing: only Linux supports the request.
func Fresh([]byte) {}

// ask does nothing: only Linux supports the request.
func ask([]byte) {}
