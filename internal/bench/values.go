package bench

import (
	"encoding/binary"
	"math"

	"thundercollective/internal/reduce"
)

// The values that ranks contribute are small integers, picked by a hash of rank
// and index such that every partial result, in any order of reduction, is an
// integer that every element type holds exactly (at most 127 away from zero, the
// limit of i8; bf16 has all integers up to 256). So the right result is known
// exactly, without rounding, for any algorithm.

// limit bounds every partial sum and product.
const limit = 127

// mix is a hash of two numbers with well-spread bits.
func mix(a, b int) uint64 {
	x := uint64(a)*0x9e3779b97f4a7c15 + uint64(b)*0xd1b54a32d192ed03 + 0x8cb92ba72f3d8dd7
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}

// Streams of numbers that do not belong to a rank are numbered below zero.
const (
	ownerStream = -1 - iota
	factorStream
)

func signed(dt reduce.DType) bool {
	switch dt {
	case reduce.U8, reduce.U16, reduce.U32, reduce.U64, reduce.Bool:
		return false
	default:
		return true
	}
}

// within maps a hash to -k..k, or 0..k for types without a sign.
func within(dt reduce.DType, h uint64, k int) int64 {
	if signed(dt) {
		return int64(h%uint64(2*k+1)) - int64(k)
	}
	return int64(h % uint64(k+1))
}

// moved is element i of what rank sends where nothing is reduced.
func moved(dt reduce.DType, rank, i int) int64 {
	if dt == reduce.Bool {
		return int64(mix(rank, i) & 1)
	}
	return within(dt, mix(rank, i), limit)
}

// contributed is element i of what rank gives to a reduction over ranks ranks.
func contributed(dt reduce.DType, op reduce.Op, ranks, rank, i int) int64 {
	h := mix(rank, i)
	mask := int64(limit)
	if dt == reduce.Bool {
		mask = 1
	}
	switch bitwise(dt, op) {
	case reduce.Sum:
		if rank >= limit {
			return 0
		}
		return within(dt, h, limit/min(ranks, limit))
	case reduce.Avg:
		return averaged(dt, ranks, rank, i)
	case reduce.Prod:
		return factor(dt, ranks, rank, i)
	case reduce.And:
		return mask ^ owned(mask, ranks, rank, i)
	case reduce.Or:
		return owned(mask, ranks, rank, i)
	case reduce.Xor:
		return int64(h) & mask
	default: // min, max
		return within(dt, h, limit)
	}
}

// owned gives each bit of mask to one of the ranks, on half of the elements, and
// returns the bits of this one. That way each rank decides some of the results of
// OR, and with the bits turned over of AND.
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

// averaged makes the sum over all ranks a multiple of their number: the last rank
// adds what is missing. Past maxAveraged ranks there is no room for that within
// limit, and every value is zero.
func averaged(dt reduce.DType, ranks, rank, i int) int64 {
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

// factor spreads three factors and a sign over the ranks; all others give 1.
func factor(dt reduce.DType, ranks, rank, i int) int64 {
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

// reduced is element i of the reduction of what all ranks contributed.
func reduced(dt reduce.DType, op reduce.Op, ranks, i int) int64 {
	acc := contributed(dt, op, ranks, 0, i)
	for r := 1; r < ranks; r++ {
		acc = combine(bitwise(dt, op), acc, contributed(dt, op, ranks, r, i))
	}
	if op == reduce.Avg {
		acc /= int64(ranks)
	}
	return acc
}

// bitwise returns the operation on bits that op is for bool, and op itself for
// the other types.
func bitwise(dt reduce.DType, op reduce.Op) reduce.Op {
	if dt != reduce.Bool {
		return op
	}
	switch op {
	case reduce.Sum, reduce.Max:
		return reduce.Or
	case reduce.Prod, reduce.Min:
		return reduce.And
	default:
		return op
	}
}

func combine(op reduce.Op, a, b int64) int64 {
	switch op {
	case reduce.Prod:
		return a * b
	case reduce.Min:
		return min(a, b)
	case reduce.Max:
		return max(a, b)
	case reduce.And:
		return a & b
	case reduce.Or:
		return a | b
	case reduce.Xor:
		return a ^ b
	default: // sum, avg
		return a + b
	}
}

// encode writes v as an element of type dt to the front of b.
func encode(dt reduce.DType, b []byte, v int64) {
	order := binary.NativeEndian
	switch dt {
	case reduce.F32:
		order.PutUint32(b, math.Float32bits(float32(v)))
	case reduce.F64:
		order.PutUint64(b, math.Float64bits(float64(v)))
	case reduce.F16:
		order.PutUint16(b, uint16(reduce.ToFloat16(float32(v))))
	case reduce.BF16:
		order.PutUint16(b, uint16(reduce.ToBFloat16(float32(v))))
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

// decode reads the element of type dt at the front of b as a number.
func decode(dt reduce.DType, b []byte) float64 {
	order := binary.NativeEndian
	switch dt {
	case reduce.F32:
		return float64(math.Float32frombits(order.Uint32(b)))
	case reduce.F64:
		return math.Float64frombits(order.Uint64(b))
	case reduce.F16:
		return float64(reduce.Float16(order.Uint16(b)).Float32())
	case reduce.BF16:
		return float64(reduce.BFloat16(order.Uint16(b)).Float32())
	case reduce.I8:
		return float64(int8(b[0]))
	case reduce.I16:
		return float64(int16(order.Uint16(b)))
	case reduce.I32:
		return float64(int32(order.Uint32(b)))
	case reduce.I64:
		return float64(int64(order.Uint64(b)))
	case reduce.U16:
		return float64(order.Uint16(b))
	case reduce.U32:
		return float64(order.Uint32(b))
	case reduce.U64:
		return float64(order.Uint64(b))
	default: // u8, bool
		return float64(b[0])
	}
}
