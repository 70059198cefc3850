package tcp

import (
	"golang.org/x/sys/cpu"

	"thundercollective/internal/crc32c"
)

// checkOf is the checksum of a header, in a fraction of the instructions that finding the
// way through the standard library takes.
func checkOf(h *[headerSize]byte) uint32 {
	if cpu.X86.HasSSE42 {
		return checkSSE42(h)
	}
	return crc32c.Sum(h[:atCheck])
}

//go:noescape
func checkSSE42(h *[headerSize]byte) uint32
