package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An instruction is one of avo's, operands in the order of Go's assembler.
type instruction = func(ops ...operand.Op)

// kernels lists what m gets. 64-bit products have no instruction before AVX-512,
// and what could be pieced together is no faster than Go's loop.
func kernels(m *machine) []kernel {
	var list []kernel
	add := func(name, sign string, op func(*machine) binary) {
		list = append(list, kernel{name, sign, op, elements{m.bytes, load, store}})
	}
	add("SumF32", "+", direct(build.VADDPS))
	add("ProdF32", "*", direct(build.VMULPS))
	add("MinF32", "min", float32s.min)
	add("MaxF32", "max", float32s.max)
	add("SumF64", "+", direct(build.VADDPD))
	add("ProdF64", "*", direct(build.VMULPD))
	add("MinF64", "min", float64s.min)
	add("MaxF64", "max", float64s.max)

	add("SumI8", "+", direct(build.VPADDB))
	add("ProdI8", "*", prodI8)
	add("MinI8", "min", direct(build.VPMINSB))
	add("MaxI8", "max", direct(build.VPMAXSB))
	add("MinU8", "min", direct(build.VPMINUB))
	add("MaxU8", "max", direct(build.VPMAXUB))
	add("SumI16", "+", direct(build.VPADDW))
	add("ProdI16", "*", direct(build.VPMULLW))
	add("MinI16", "min", direct(build.VPMINSW))
	add("MaxI16", "max", direct(build.VPMAXSW))
	add("MinU16", "min", direct(build.VPMINUW))
	add("MaxU16", "max", direct(build.VPMAXUW))
	add("SumI32", "+", direct(build.VPADDD))
	add("ProdI32", "*", direct(build.VPMULLD))
	add("MinI32", "min", direct(build.VPMINSD))
	add("MaxI32", "max", direct(build.VPMAXSD))
	add("MinU32", "min", direct(build.VPMINUD))
	add("MaxU32", "max", direct(build.VPMAXUD))
	add("SumI64", "+", direct(build.VPADDQ))
	if m.wide {
		add("ProdI64", "*", direct(build.VPMULLQ))
		add("MinI64", "min", direct(build.VPMINSQ))
		add("MaxI64", "max", direct(build.VPMAXSQ))
		add("MinU64", "min", direct(build.VPMINUQ))
		add("MaxU64", "max", direct(build.VPMAXUQ))
	} else {
		add("MinI64", "min", pick64(false, true))
		add("MaxI64", "max", pick64(false, false))
		add("MinU64", "min", pick64(true, true))
		add("MaxU64", "max", pick64(true, false))
	}

	add("AndBits", "&", direct(build.VANDPS))
	add("OrBits", "|", direct(build.VORPS))
	add("XorBits", "^", direct(build.VXORPS))
	add("AndBool", "&&", boolean(build.VPMINUB, false))
	add("OrBool", "||", boolean(build.VORPS, false))
	add("XorBool", "!=", boolean(build.VXORPS, true))

	return append(list, halfKernels(m)...)
}

// direct is an operation that is one instruction.
func direct(i instruction) func(*machine) binary {
	return func(*machine) binary {
		return func(a, b vec) { i(b, a, a) }
	}
}

// floats holds the instructions of one width of float.
type floats struct {
	add, mul, div, least, greatest, compare, inRange instruction
	addMasked                                        func(b, a, k, sum operand.Op)
	spread                                           instruction
}

var (
	float32s = floats{
		build.VADDPS, build.VMULPS, build.VDIVPS, build.VMINPS, build.VMAXPS, build.VCMPPS, build.VRANGEPS,
		func(b, a, k, sum operand.Op) { build.VADDPS(b, a, k, sum) }, build.VBROADCASTSS,
	}
	float64s = floats{
		build.VADDPD, build.VMULPD, build.VDIVPD, build.VMINPD, build.VMAXPD, build.VCMPPD, build.VRANGEPD,
		func(b, a, k, sum operand.Op) { build.VADDPD(b, a, k, sum) }, build.VBROADCASTSD,
	}
)

const unordered = operand.U8(3) // comparison predicate: one of the two is NaN

// min makes up for VMINPS, which returns its second source when one is NaN or
// both are zero: asked both ways round it returns either operand, and their OR
// is NaN if one is, and -0 if one is.
func (f *floats) min(m *machine) binary {
	if m.wide {
		return f.bounded(m, 4)
	}
	return func(a, b vec) {
		t := m.vec()
		f.least(b, a, t)
		f.least(a, b, a)
		build.VORPS(t, a, a)
	}
}

// max is like min, but it is AND that makes +0 of the zeros, which NaNs do not
// survive; all bits set is one.
func (f *floats) max(m *machine) binary {
	if m.wide {
		return f.bounded(m, 5)
	}
	return func(a, b vec) {
		t, u := m.vec(), m.vec()
		f.compare(unordered, b, a, u)
		f.greatest(b, a, t)
		f.greatest(a, b, a)
		build.VANDPS(t, a, a)
		build.VORPS(u, a, a)
	}
}

// bounded uses AVX-512's VRANGEPS, which knows the order of the zeros but drops
// NaNs; those are put back by a sum. mode is 4 for min, 5 for max.
func (f *floats) bounded(m *machine, mode uint8) binary {
	return func(a, b vec) {
		t, k := m.vec(), build.K()
		f.compare(unordered, b, a, k)
		f.inRange(operand.U8(mode), b, a, t)
		f.addMasked(b, a, k, t)
		build.VMOVAPS(t, a)
	}
}

// prodI8 multiplies the even and the odd bytes as 16-bit numbers; what spills
// into the upper byte of an even product is masked off, and an odd one is made
// in the upper byte to begin with.
func prodI8(m *machine) binary {
	upper := m.ones()
	build.VPSLLW(operand.U8(8), upper, upper)
	return func(a, b vec) {
		odd, bOdd := m.vec(), m.vec()
		build.VPSRLW(operand.U8(8), a, odd)
		build.VANDPS(upper, b, bOdd)
		build.VPMULLW(bOdd, odd, odd)
		build.VPMULLW(b, a, a)
		build.VANDNPS(a, upper, a)
		build.VORPS(odd, a, a)
	}
}

// pick64 compares 64-bit integers, for which AVX2 has only a signed "greater";
// flipping the sign bits of both makes it an unsigned one.
func pick64(isUnsigned, least bool) func(*machine) binary {
	return func(m *machine) binary {
		var sign vec
		if isUnsigned {
			sign = m.ones()
			build.VPSLLQ(operand.U8(63), sign, sign)
		}
		return func(a, b vec) {
			greater := m.vec()
			if isUnsigned {
				x, y := m.vec(), m.vec()
				build.VXORPS(sign, a, x)
				build.VXORPS(sign, b, y)
				build.VPCMPGTQ(y, x, greater)
			} else {
				build.VPCMPGTQ(b, a, greater)
			}
			if least {
				build.VBLENDVPD(greater, b, a, a)
			} else {
				build.VBLENDVPD(greater, a, b, a)
			}
		}
	}
}

// boolean reduces to 0 or 1, which is the unsigned minimum with 1: the operands
// before the operation, or only its result where that does as well.
func boolean(i instruction, before bool) func(*machine) binary {
	return func(m *machine) binary {
		one, zero := m.ones(), m.vec()
		build.VXORPS(zero, zero, zero)
		build.VPSUBB(one, zero, one)
		return func(a, b vec) {
			if before {
				build.VPMINUB(one, a, a)
				build.VPMINUB(one, b, b)
			}
			i(b, a, a)
			if !before {
				build.VPMINUB(one, a, a)
			}
		}
	}
}

// dividers lists the divisions that pay: those of floats.
func dividers(m *machine) []divider {
	return append([]divider{
		{"DivideF32", "float32", float32s.divide, elements{m.bytes, load, store}},
		{"DivideF64", "float64", float64s.divide, elements{m.bytes, load, store}},
	}, halfDividers(m)...)
}

func (f *floats) divide(m *machine, by reg.Register) func(v vec) {
	all := m.vec()
	f.spread(by, all)
	return func(v vec) { f.div(all, v, v) }
}
