package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// halfKernels lists the kernels of the 16-bit floats, all computed in float32.
func halfKernels(m *machine) []kernel {
	var list []kernel
	for _, o := range []struct {
		name, sign string
		op         func(*machine) binary
		exact      bool // the result is one of the operands
	}{
		{"Sum", "+", direct(build.VADDPS), false},
		{"Prod", "*", direct(build.VMULPS), false},
		{"Min", "min", float32s.min, true},
		{"Max", "max", float32s.max, true},
	} {
		list = append(list,
			kernel{o.name + "F16", o.sign, o.op, float16s(m)},
			kernel{o.name + "BF16", o.sign, func(m *machine) binary {
				h := newBFloat16s(m)
				op := o.op(m)
				return func(a, b vec) {
					aOdd, bOdd := h.split(a), h.split(b)
					op(a, b)
					op(aOdd, bOdd)
					h.join(a, aOdd, o.exact)
				}
			}, elements{m.bytes, load, store}})
	}
	return list
}

func halfDividers(m *machine) []divider {
	return []divider{
		{"DivideF16", "float32", float32s.divide, float16s(m)},
		{"DivideBF16", "float32", func(m *machine, by reg.Register) func(v vec) {
			h := newBFloat16s(m)
			op := float32s.divide(m, by)
			return func(v vec) {
				odd := h.split(v)
				op(v)
				op(odd)
				h.join(v, odd, false)
			}
		}, elements{m.bytes, load, store}},
	}
}

// float16s converts on the way from and to memory, rounding to nearest even.
func float16s(m *machine) elements {
	return elements{
		bytes: m.bytes / 2,
		load:  func(from operand.Mem, to vec) { build.VCVTPH2PS(from, to) },
		store: func(from vec, to operand.Mem) { build.VCVTPS2PH(operand.U8(0), from, to) },
	}
}

// bfloat16s computes on the BFloat16s of a vector as two vectors of float32: the
// even ones, moved up into the upper halves, and the odd ones, which are there
// already. No element changes its lane.
type bfloat16s struct {
	m     *machine
	upper vec // 0xffff0000
	bias  vec // 0x7fff: just under half a unit of a BFloat16
	one   vec
	unit  vec // 0x10000
}

func newBFloat16s(m *machine) *bfloat16s {
	h := &bfloat16s{m: m, upper: m.ones(), bias: m.ones(), one: m.ones(), unit: m.vec()}
	build.VPSLLD(operand.U8(16), h.upper, h.upper)
	build.VPSRLD(operand.U8(17), h.bias, h.bias)
	build.VPSRLD(operand.U8(31), h.one, h.one)
	build.VPSLLD(operand.U8(16), h.one, h.unit)
	return h
}

// split leaves the even elements in v and returns the odd ones.
func (h *bfloat16s) split(v vec) (odd vec) {
	odd = h.m.vec()
	build.VANDPS(h.upper, v, odd)
	build.VPSLLD(operand.U8(16), v, v)
	return odd
}

// join rounds both and leaves the elements in even.
func (h *bfloat16s) join(even, odd vec, exact bool) {
	if !exact {
		h.round(even)
		h.round(odd)
	}
	build.VPSRLD(operand.U8(16), even, even)
	if h.m.wide {
		// even | odd & upper
		build.VPTERNLOGD(operand.U8(0xf8), h.upper, odd, even)
	} else {
		build.VPBLENDW(operand.U8(0xaa), odd, even, even)
	}
}

// round adds just under half a unit, or half if the last bit that stays is set. A
// NaN needs no care: one that comes out of an operation on BFloat16s is an operand
// made quiet, or the CPU's own; the lower halves of both are zero, so that nothing
// is carried out of them.
func (h *bfloat16s) round(v vec) {
	if h.m.wide {
		odd := build.K()
		build.VPTESTMD(h.unit, v, odd)
		build.VPADDD(h.bias, v, v)
		build.VPADDD(h.one, v, odd, v)
		return
	}
	odd := h.m.vec()
	build.VPSRLD(operand.U8(16), v, odd)
	build.VANDPS(h.one, odd, odd)
	build.VPADDD(h.bias, v, v)
	build.VPADDD(odd, v, v)
}
