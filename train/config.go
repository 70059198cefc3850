package train

import (
	"fmt"

	"thundercollective"
)

// DefaultBucketBytes is the size of a bucket when Config does not say: large enough
// to use the bandwidth, small enough that the first one leaves early.
const DefaultBucketBytes = 25 << 20

// A Wire is what gradients are on their way between ranks.
type Wire uint8

// The wire types.
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

// ParseWire reads a wire type by name, such as "bf16".
func ParseWire(s string) (Wire, error) {
	for w, name := range wireNames {
		if name == s {
			return Wire(w), nil
		}
	}
	return 0, fmt.Errorf("train: unknown wire type %q, want one of %v", s, wireNames)
}

// Config says how gradients are combined. The zero value averages float32 in
// buckets of DefaultBucketBytes.
type Config struct {
	// BucketBytes is the least size of a bucket, in bytes of float32; a bucket
	// is closed by the tensor that reaches it.
	BucketBytes int
	// Op is thunder.Avg, the default, or thunder.Sum.
	Op thunder.Op
	// Wire is the type on the wire.
	Wire Wire
	// Algo is the algorithm of the all-reduce; Auto picks by size. Int8 has its
	// own way and ignores it.
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
		return c, fmt.Errorf("train: buckets of %d bytes", c.BucketBytes)
	case c.Op != thunder.Avg && c.Op != thunder.Sum:
		return c, fmt.Errorf("train: gradients cannot be combined by %v; choose avg or sum", c.Op)
	case c.Wire >= wireEnd:
		return c, fmt.Errorf("train: unknown wire type %d", c.Wire)
	}
	return c, nil
}
