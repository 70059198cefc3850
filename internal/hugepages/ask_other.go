//go:build !linux

package hugepages

func within([]byte) (from, to uintptr) { return 0, 0 }

// Fresh asks for nothing: only Linux has a way to ask.
func Fresh([]byte) {}

// ask asks for nothing: only Linux moves what is there.
func ask([]byte) {}
