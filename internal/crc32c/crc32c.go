// Package crc32c computes the checksum of messages: CRC-32C (Castagnoli), for which
// processors have an instruction.
package crc32c

import "hash/crc32"

var table = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the checksum of b.
func Sum(b []byte) uint32 { return crc32.Checksum(b, table) }

// Add returns the checksum of data with the checksum sum, followed by b.
func Add(sum uint32, b []byte) uint32 { return crc32.Update(sum, table, b) }
