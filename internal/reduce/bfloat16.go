package reduce

import "math"

// A BFloat16 holds the bits of a bfloat16 number: the upper half of a float32.
type BFloat16 uint16

// ToBFloat16 rounds f to the nearest BFloat16, ties to even. A number that is too large
// becomes an infinity; a NaN becomes a quiet NaN with the upper bits of its payload.
func ToBFloat16(f float32) BFloat16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > f32Inf {
		return BFloat16(b>>16 | 0x40)
	}
	// Add just under half a unit, or half if odd; a carry out of the mantissa
	// increments the exponent, and the largest exponent becomes infinity.
	return BFloat16((b + 0x7fff + b>>16&1) >> 16)
}

// Float32 returns the same number as a float32, exactly. NaNs keep their bits.
func (h BFloat16) Float32() float32 { return math.Float32frombits(uint32(h) << 16) }
