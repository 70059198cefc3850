//go:build !amd64

package tcp

import "thundercollective/internal/crc32c"

// checkOf is the checksum of a header.
func checkOf(h *[headerSize]byte) uint32 { return crc32c.Sum(h[:atCheck]) }
