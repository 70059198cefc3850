// Package crc32c is the checksum of everything that is sent: CRC-32C, Castagnoli's
// polynomial, which processors have an instruction for.
package crc32c

import "hash/crc32"

var table = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the checksum of b.
func Sum(b []byte) uint32 { return crc32.Checksum(b, table) }

// Add returns the checksum of what has the checksum sum, followed by b.
func Add(sum uint32, b []byte) uint32 { return crc32.Update(sum, table, b) }
