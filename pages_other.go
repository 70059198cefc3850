//go:build !linux

package thunder

// preferHugePages asks for huge pages beneath b, where there is a way to ask.
func preferHugePages([]byte) {}
