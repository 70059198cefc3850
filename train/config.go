package train

import (
	"fmt"

	"thundercollective"
)

// DefaultBucketBytes is the default size of a bucket: large enough to use the bandwidth,
// small enough that the first bucket is combined early.
const DefaultBucketBytes = 25 << 20

// A Wire is the type of gradients in messages.
type Wire uint8

// The wire types. The package comment describes them.
const (
	F32 Wire = iota
	BF16
	F16
	Int8
	wireEnd
)

var wireNames = [wireEnd]string{F32: "f32", BF16: "bf16", F16: "f16", Int8: "int8"}

func (w Wire) String() string {
	if w >= wireEnd {
		return fmt.Sprintf("wire(%d)", uint8(w))
	}
	return wireNames[w]
}

// ParseWire returns the wire type with the given name, such as "bf16".
func ParseWire(s string) (Wire, error) {
	for w, name := range wireNames {
		if name == s {
			return Wire(w), nil
		}
	}
	return 0, fmt.Errorf("train: unknown wire type %q, want one of %v", s, wireNames)
}

// Config describes how gradients are combined. The zero value averages float32 in buckets
// of DefaultBucketBytes.
type Config struct {
	// BucketBytes is the minimum size of a bucket, in bytes of float32; the tensor that
	// reaches it is the last one of the bucket. DefaultBucketBytes if 0.
	BucketBytes int
	// Op is thunder.Avg, the default, or thunder.Sum.
	Op thunder.Op
	// Wire is the type of gradients in messages.
	Wire Wire
	// Algo is the algorithm of the all-reduce; Auto chooses by size. Int8 has an
	// algorithm of its own and ignores it.
	Algo thunder.Algo
}

// complete fills in the defaults and validates the rest.
func (c Config) complete() (Config, error) {
	if c.BucketBytes == 0 {
		c.BucketBytes = DefaultBucketBytes
	}
	if c.Op == 0 {
		c.Op = thunder.Avg
	}
	switch {
	case c.BucketBytes < 0:
		return c, fmt.Errorf("train: bucket size of %d bytes is negative", c.BucketBytes)
	case c.Op != thunder.Avg && c.Op != thunder.Sum:
		return c, fmt.Errorf("train: gradients cannot be combined with %v; use avg or sum", c.Op)
	case c.Wire >= wireEnd:
		return c, fmt.Errorf("train: unknown wire type %d", c.Wire)
	}
	return c, nil
}
