package bench

import (
	"encoding/binary"
	"math"

	thunder "thundercollective"
)

// The values that ranks contribute are small integers, a hash of rank and index, chosen so
// that every partial result, in any order of reduction, is an integer that every element
// type represents exactly (at most 127 in absolute value, the limit of i8; bf16 has all
// integers up to 256). So the correct result is known without rounding, for any algorithm.

// limit bounds the absolute value of every partial sum and product.
const limit = 127

// mix is a hash of two numbers with well-spread bits.
func mix(a, b int) uint64 {
	x := uint64(a)*0x9e3779b97f4a7c15 + uint64(b)*0xd1b54a32d192ed03 + 0x8cb92ba72f3d8dd7
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}

// Sequences of numbers that do not belong to a rank have negative numbers.
const (
	ownerStream = -1 - iota
	factorStream
)

func signed(dt thunder.DType) bool {
	switch dt {
	case thunder.U8, thunder.U16, thunder.U32, thunder.U64, thunder.Bool:
		return false
	default:
		return true
	}
}

// within maps a hash to -k..k, or to 0..k for unsigned types.
func within(dt thunder.DType, h uint64, k int) int64 {
	if signed(dt) {
		return int64(h%uint64(2*k+1)) - int64(k)
	}
	return int64(h % uint64(k+1))
}

// moved returns element i of what a rank sends in modes without a reduction.
func moved(dt thunder.DType, rank, i int) int64 {
	if dt == thunder.Bool {
		return int64(mix(rank, i) & 1)
	}
	return within(dt, mix(rank, i), limit)
}

// contributed returns element i of what a rank contributes to a reduction.
func contributed(dt thunder.DType, op thunder.Op, ranks, rank, i int) int64 {
	h := mix(rank, i)
	mask := int64(limit)
	if dt == thunder.Bool {
		mask = 1
	}
	switch bitwise(dt, op) {
	case thunder.Sum:
		if rank >= limit {
			return 0
		}
		return within(dt, h, limit/min(ranks, limit))
	case thunder.Avg:
		return averaged(dt, ranks, rank, i)
	case thunder.Prod:
		return factor(dt, ranks, rank, i)
	case thunder.And:
		return mask ^ owned(mask, ranks, rank, i)
	case thunder.Or:
		return owned(mask, ranks, rank, i)
	case thunder.Xor:
		return int64(h) & mask
	default: // min, max
		return within(dt, h, limit)
	}
}

// owned assigns each bit of mask to one of the ranks, on half of the elements, and returns
// the bits of this rank. So each rank determines some results of Or and, with the bits
// inverted, of And.
func owned(mask int64, ranks, rank, i int) int64 {
	var v int64
	for bit := int64(1); bit <= mask; bit <<= 1 {
		h := mix(ownerStream, i*(limit+1)+int(bit))
		if h&1 == 1 && int(h>>8%uint64(ranks)) == rank {
			v |= bit
		}
	}
	return v
}

// averaged makes the sum over all ranks a multiple of their number: the last rank adds what
// is missing. With more than maxAveraged ranks this would exceed limit, and every value is
// zero.
func averaged(dt thunder.DType, ranks, rank, i int) int64 {
	const maxAveraged = 64
	if ranks > maxAveraged {
		return 0
	}
	if ranks == 1 {
		return within(dt, mix(rank, i), limit)
	}
	k := (limit - (ranks - 1)) / (ranks - 1)
	if rank < ranks-1 {
		return within(dt, mix(rank, i), k)
	}
	var sum int64
	for r := range ranks - 1 {
		sum += within(dt, mix(r, i), k)
	}
	n := int64(ranks)
	return ((-sum)%n + n) % n
}

// factor distributes three factors and a sign over the ranks; all other ranks contribute 1.
func factor(dt thunder.DType, ranks, rank, i int) int64 {
	v := int64(1)
	h := mix(factorStream, i)
	for _, choices := range [][]int64{{1, 2, 3, 5, 7}, {1, 2, 3}, {1, 2, 5}, {1, -1}} {
		f := choices[h%uint64(len(choices))]
		h >>= 4
		if int(h%uint64(ranks)) == rank && (f > 0 || signed(dt)) {
			v *= f
		}
		h >>= 8
	}
	return v
}

// reduced returns element i of the reduction of what all ranks contributed.
func reduced(dt thunder.DType, op thunder.Op, ranks, i int) int64 {
	acc := contributed(dt, op, ranks, 0, i)
	for r := 1; r < ranks; r++ {
		acc = combine(bitwise(dt, op), acc, contributed(dt, op, ranks, r, i))
	}
	if op == thunder.Avg {
		acc /= int64(ranks)
	}
	return acc
}

// bitwise returns the bit operation equivalent to op for bool, and op itself for the other
// types.
func bitwise(dt thunder.DType, op thunder.Op) thunder.Op {
	if dt != thunder.Bool {
		return op
	}
	switch op {
	case thunder.Sum, thunder.Max:
		return thunder.Or
	case thunder.Prod, thunder.Min:
		return thunder.And
	default:
		return op
	}
}

func combine(op thunder.Op, a, b int64) int64 {
	switch op {
	case thunder.Prod:
		return a * b
	case thunder.Min:
		return min(a, b)
	case thunder.Max:
		return max(a, b)
	case thunder.And:
		return a & b
	case thunder.Or:
		return a | b
	case thunder.Xor:
		return a ^ b
	default: // sum, avg
		return a + b
	}
}

// encode writes v as an element of type dt to the start of b.
func encode(dt thunder.DType, b []byte, v int64) {
	order := binary.NativeEndian
	switch dt {
	case thunder.F32:
		order.PutUint32(b, math.Float32bits(float32(v)))
	case thunder.F64:
		order.PutUint64(b, math.Float64bits(float64(v)))
	case thunder.F16:
		order.PutUint16(b, uint16(thunder.ToFloat16(float32(v))))
	case thunder.BF16:
		order.PutUint16(b, uint16(thunder.ToBFloat16(float32(v))))
	default:
		switch dt.Size() {
		case 1:
			b[0] = byte(v)
		case 2:
			order.PutUint16(b, uint16(v))
		case 4:
			order.PutUint32(b, uint32(v))
		case 8:
			order.PutUint64(b, uint64(v))
		}
	}
}

// decode reads the element of type dt at the start of b.
func decode(dt thunder.DType, b []byte) float64 {
	order := binary.NativeEndian
	switch dt {
	case thunder.F32:
		return float64(math.Float32frombits(order.Uint32(b)))
	case thunder.F64:
		return math.Float64frombits(order.Uint64(b))
	case thunder.F16:
		return float64(thunder.Float16(order.Uint16(b)).Float32())
	case thunder.BF16:
		return float64(thunder.BFloat16(order.Uint16(b)).Float32())
	case thunder.I8:
		return float64(int8(b[0]))
	case thunder.I16:
		return float64(int16(order.Uint16(b)))
	case thunder.I32:
		return float64(int32(order.Uint32(b)))
	case thunder.I64:
		return float64(int64(order.Uint64(b)))
	case thunder.U16:
		return float64(order.Uint16(b))
	case thunder.U32:
		return float64(order.Uint32(b))
	case thunder.U64:
		return float64(order.Uint64(b))
	default: // u8, bool
		return float64(b[0])
	}
}
